#!/usr/bin/env python3
"""Each rule of tidy.py shown from both sides."""
import unittest

import tidy


def problems(path, *lines):
    return [problem for _, problem in tidy.check_text(path, "\n".join(lines))]


class Tidy(unittest.TestCase):
    def refused(self, path, *lines):
        self.assertTrue(problems(path, *lines), (path, lines))

    def allowed(self, path, *lines):
        self.assertEqual(problems(path, *lines), [], (path, lines))

    def test_includes_go_one_way(self):
        self.allowed("log/a.cpp", '#include "protocol/types.hpp"')
        self.refused("protocol/a.cpp", '#include "log/log.hpp"')
        self.refused("tools/cli/produce.cpp", '#include "broker/server.hpp"')
        self.allowed("tools/cli/serve.cpp", '#include "broker/server.hpp"')
        self.refused("base/a.cpp", '#include "sim/world.hpp"')

    def test_tests_may_use_simulated_seams_and_nothing_else_of_the_simulator(self):
        self.allowed("log/a_test.cpp", '#include "sim/seams/sim_disk.hpp"')
        self.refused("log/a.cpp", '#include "sim/seams/sim_disk.hpp"')
        self.refused("log/a_test.cpp", '#include "sim/world.hpp"')
        self.refused("sim/seams/a.cpp", '#include "log/log.hpp"')

    def test_heavy_libraries_have_one_home(self):
        self.allowed("base/logging.cpp", "#include <spdlog/spdlog.h>")
        self.refused("base/logging.hpp", "// Log.", "#pragma once", "#include <spdlog/spdlog.h>")
        self.refused("broker/server.cpp", "#include <boost/asio.hpp>")
        self.allowed("broker/admin_http.cpp", "#include <boost/beast/http.hpp>")

    def test_the_real_world_is_reached_through_seams(self):
        self.refused("log/a.cpp", "auto now = std::chrono::steady_clock::now();")
        self.allowed("base/a.cpp", "auto now = std::chrono::steady_clock::now();")
        self.refused("log/a.cpp", "const int file = ::open(path, 0);")
        self.refused("log/a_test.cpp", "std::this_thread::sleep_for(10ms);")
        self.allowed("log/a.cpp", "// never steady_clock", 'log("sleep_for");')
        self.allowed("log/a.cpp", "auto folder = DataFolder::open(path);")
        self.allowed("log/a_test.cpp", "std::ifstream golden{path};")
        self.refused("log/a.cpp", "std::ifstream golden{path};")

    def test_a_published_version_is_held_while_it_is_read(self):
        self.refused("log/a.cpp", "for (const auto& member : list_.current()->members) {")
        self.refused("log/a.cpp", "for (const auto& member :", "     list_.current()->members) {")
        self.refused("log/a.cpp", "const auto& members = list_.current()->members;")
        self.refused("log/a.cpp", "const auto& [id, name] = service.image()->find(key);")
        self.refused("log/a.cpp", "const Topic& topic = *controller.image()->topic;")
        self.refused("log/a.cpp", "const auto& image = *controller.image();")
        self.refused("log/a.cpp", "auto&& loop = weak_.lock()->loop();")
        self.allowed("log/a.cpp", "const auto version = list_.current();", "for (const auto& member : version->members) {")
        self.allowed("log/a.cpp", "const auto members = list_.current()->members;")
        self.allowed("log/a.cpp", "if (a && View{*controller.image()}.is_full()) {")
        self.allowed("log/a.cpp", "if (a && b == controller.image()->count()) {")
        self.allowed("log/a.cpp", "for (int i = 0; i < list_.current()->size; ++i) {")
        self.allowed("log/a.cpp", "run(*controller.image(), [&](const auto& a) { b = a; });")

    def test_headers_say_what_they_are(self):
        self.allowed("log/a.hpp", "// A thing. One thread.", "#pragma once")
        self.refused("log/a.hpp", "#pragma once")
        self.refused("log/a.hpp", "// A thing.", "int a;")

    def test_length_paths_and_loose_ends(self):
        self.allowed("log/a.cpp", *["int a;"] * tidy.LINES_MAX)
        self.refused("log/a.cpp", *["int a;"] * (tidy.LINES_MAX + 1))
        self.refused("docs/a.md", "see /home/me/notes")
        self.allowed("docs/a.md", "see build/home/me and https://example.org/home/x")
        self.refused("log/a.cpp", "// TODO: more")
        self.refused("docs/a.md", "see ../shared/DESIGN.md")


if __name__ == "__main__":
    unittest.main()

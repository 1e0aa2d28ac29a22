#!/usr/bin/env python3
"""Where edits are made and where not, and that one is put in and named as it should."""
import unittest

import edits


def of(*lines):
    return edits.of_text('log/a.cpp', '\n'.join(lines))


def told(*lines):
    return [(edit.what, edit.after.strip()) for edit in of(*lines)]


class Edits(unittest.TestCase):
    def test_conditions_are_negated_whole(self):
        self.assertIn(('negated', 'if (!(a.find(b))) {'), told('  if (a.find(b)) {'))
        self.assertIn(('negated', 'if (const auto c = f(); !(c > 1)) {'), told('  if (const auto c = f(); c > 1) {'))
        self.assertNotIn('negated', [what for what, _ in told('  if (const auto* found = find(1)) {')])
        self.assertEqual(told('  if constexpr (kIsSmall) {'), [])

    def test_comparisons_are_off_by_one_and_templates_stay(self):
        self.assertEqual(told('  return a < b;'), [('compared otherwise', 'return a <= b;')])
        self.assertEqual(told('  std::vector<std::pair<int, int>> all;'), [])
        self.assertEqual(told('  return end + 1;'), [('off by one', 'return end;')])
        self.assertEqual(told('  return end + 10 - 1.5;'), [])

    def test_logic_truth_and_extremes_become_the_other_one(self):
        self.assertEqual(told('  return a && b;'), [('and for or', 'return a || b;')])
        self.assertEqual(told('  return std::max(a, b);'), [('the other one', 'return std::min(a, b);')])
        self.assertIn(('the other one', 'needs_sync = false;'), told('  needs_sync = true;'))
        self.assertEqual(told('  return is_true(a);'), [])

    def test_statements_are_left_out_or_swapped_with_their_neighbour(self):
        self.assertEqual(told('  {', '  a.f(1);', '  b = 2;', '  return;'),
                         [('left out', ';'), ('swapped', 'b = 2;\n  a.f(1);'), ('left out', ';')])
        self.assertEqual(told('  {', '  f(a,', '    g(b));'), [], 'the rest of a statement is none')
        self.assertEqual(told('  {', '  return f(a);'), [])
        self.assertEqual(told('  {', '  const auto b = f(a);'), [])
        self.assertEqual(told('  {', '  WEIR_TRY_VOID(f(a));'), [])

    def test_statements_whose_order_plainly_cannot_matter_are_not_swapped(self):
        def swapped(one, two):
            return 'swapped' in [what for what, _ in told('  {', f'  {one}', f'  {two}', '  }')]
        for one, two in (('a.b = 1;', 'a.c = d;'), ('store_le(into, 0, f(a));', 'store_le(into, 8, b);'), ('a.clear();', 'b->reset();'),
                         ('a.b += 1;', 'a.c += d.end();'), ('a.b.push_back(c);', 'a.d = c;'),
                         ('std::memcpy(into, &a, 8);', 'std::memcpy(into + 8, &b, 8);'), ('a = load_le<int>(in, 4);', 'b = load_le<int>(in, 0);'),
                         ('a = load_le<int>(in, 4);', 'std::memcpy(b.data(), in.data(), b.size());')):
            self.assertFalse(swapped(one, two), one)
        for one, two in (('a = b;', 'b = c;'), ('a.b = 1;', 'c = a;'), ('a.b = r.take<int>();', 'a.c = r.take<int>();'), ('put(out, a);', 'put(out, b);'),
                         ('store_le(into, 0, a);', 'store_le(into, 0, b);'), ('a = b;', 'a.c = d;'), ('a += b - c;', 'c = b;'), ('a.push_back(b);', 'a.push_back(c);'), ('a = std::move(b);', 'c = std::exchange(b, {});')):
            self.assertTrue(swapped(one, two), one)

    def test_what_is_said_or_checked_is_left_alone(self):
        for line in ('  WEIR_CHECK(a < b);', '  WEIR_LOG(warn, "a {}", a < b);', '  // if (a < b) {', '  say("a < b && true");',
                     '#if a < b', '  static_assert(a < b);'):
            self.assertEqual([edit for edit in of(line) if edit.what != 'left out'], [], line)
        self.assertEqual(told('  f(a);  // true < false'), [], 'not at the begin of a block: nobody knows what is before')

    def test_a_name_stays_when_lines_before_it_come_and_go_and_the_second_of_two_has_its_own(self):
        first, second = of('  return a < b;', '  return a < b;')
        self.assertEqual(first.name, 'log/a.cpp | compared otherwise | return a < b;')
        self.assertEqual(second.name, first.name + ' | #1')
        self.assertEqual(of('', '  return a < b;')[0].name, first.name)

    def test_an_edit_changes_its_line_alone_and_refuses_another_text(self):
        text = '  one();\n  return a < b;\n  two();'
        edit = next(edit for edit in edits.of_text('log/a.cpp', text) if edit.what == 'compared otherwise')
        self.assertEqual(edit.apply(text), '  one();\n  return a <= b;\n  two();')
        with self.assertRaises(ValueError):
            edit.apply('\n' + text)


if __name__ == '__main__':
    unittest.main()

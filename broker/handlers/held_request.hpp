// HeldRequest: a request that is answered after somebody else has worked on it. Keeps frame, body and reply together
// until then; shared by the continuation, dies on the connection's loop.
#pragma once

#include <memory>
#include <utility>

#include "broker/request_context.hpp"

namespace weir::broker {

template <class Request, class Response>
struct HeldRequest {
  RequestContext context;
  Request request;
  Reply<Response> reply;
};

template <class Request, class Response>
std::shared_ptr<HeldRequest<Request, Response>> hold(RequestContext context, Request request, Reply<Response> reply) {
  return std::make_shared<HeldRequest<Request, Response>>(
      HeldRequest<Request, Response>{std::move(context), std::move(request), std::move(reply)});
}

}  // namespace weir::broker

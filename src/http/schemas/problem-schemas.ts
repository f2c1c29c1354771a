import * as v from "valibot";
import { shape } from "./shape.ts";

export const faultShape = shape("One fault of a request.", {
  pointer: v.pipe(
    v.string(),
    v.description('JSON Pointer into the body; "" for the body itself, and for a fault outside of the body.'),
  ),
  parameter: v.optional(v.pipe(v.string(), v.description("The query parameter that is wrong."))),
  code: v.string(),
  detail: v.string(),
});

export const problemShape = shape("An error (RFC 9457).", {
  type: v.pipe(v.string(), v.description("Address of the page that explains the code.")),
  title: v.string(),
  status: v.pipe(v.number(), v.integer(), v.minValue(400), v.maxValue(599)),
  detail: v.string(),
  instance: v.pipe(v.string(), v.description("The path of the request.")),
  code: v.pipe(v.string(), v.description("Stable, for programs.")),
  request_id: v.string(),
  errors: v.optional(v.pipe(v.array(faultShape), v.description("With 400: every fault."))),
  limit: v.optional(
    v.pipe(
      v.number(),
      v.description("With 413: the most bytes of a body. With `daily_call_limit`: the most calls in 24 hours."),
    ),
  ),
});

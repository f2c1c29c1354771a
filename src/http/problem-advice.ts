import type { ProblemAdvice } from "./advice/advice.ts";
import { INPUT_ADVICE } from "./advice/input-advice.ts";
import { RECORD_ADVICE } from "./advice/record-advice.ts";
import { SERVER_ADVICE } from "./advice/server-advice.ts";
import type { ProblemCode } from "./problem.ts";

/** Advice on every code. `/docs/errors`, `docs/errors.md` and the examples of `/openapi.json` are made from it. */
export const PROBLEM_ADVICE: Readonly<Record<ProblemCode, ProblemAdvice>> = {
  ...INPUT_ADVICE,
  ...RECORD_ADVICE,
  ...SERVER_ADVICE,
};

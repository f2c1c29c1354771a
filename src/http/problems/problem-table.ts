import { ACCESS_PROBLEMS } from "./access-problems.ts";
import { CONFLICT_PROBLEMS } from "./conflict-problems.ts";
import { INPUT_PROBLEMS } from "./input-problems.ts";
import type { ProblemCode, ProblemKind } from "./problem-kind.ts";
import { PROTOCOL_PROBLEMS } from "./protocol-problems.ts";
import { SERVER_PROBLEMS } from "./server-problems.ts";

/**
 * Every code, with one row each. The problem documents, `/docs/errors`, `docs/errors.md` and `/openapi.json` are made
 * from it.
 */
export const PROBLEMS: Readonly<Record<ProblemCode, ProblemKind>> = {
  ...INPUT_PROBLEMS,
  ...ACCESS_PROBLEMS,
  ...CONFLICT_PROBLEMS,
  ...PROTOCOL_PROBLEMS,
  ...SERVER_PROBLEMS,
};

/** The codes in the order of their statuses. */
export const PROBLEM_CODES = (Object.keys(PROBLEMS) as ProblemCode[]).sort(
  (a, b) => PROBLEMS[a].status - PROBLEMS[b].status,
);

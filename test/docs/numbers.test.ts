import { test } from "vitest";
import { NUMBER_PLAN } from "../../adapters/telephony/simulator/number-plan.ts";
import { expectPart, table } from "./generated.ts";

test("docs/quick-start.md lists the numbers of the simulated network", () =>
  expectPart(
    "docs/quick-start.md",
    "numbers",
    table(
      ["number", "what the callee does"],
      [...NUMBER_PLAN].map(([number, { title }]) => [`\`${number}\``, title]),
    ),
  ));

import * as fc from "fast-check";
import { expect, it } from "vitest";
import { limitsIn } from "../../../adapters/console/app/pages/new-call/limits-in.ts";
import { DEFAULT_LIMITS } from "../../../src/domain/limits.ts";
import { componentSchemas } from "../../../src/http/docs/schema-conversion.ts";
import { fuzz } from "../../support/fuzz.ts";

it("a server's limits match its OpenAPI document", () => {
  const limits = {
    ...DEFAULT_LIMITS,
    textLength: 11,
    audioBytes: 12,
    instructions: 13,
    instructionLength: 14,
    referenceLength: 15,
    metadataBytes: 16,
  };
  expect(limitsIn({ components: { schemas: componentSchemas(limits) } })).toEqual(limits);
});

fuzz(
  "any other document results in the default limits, or whole numbers",
  fc.property(fc.jsonValue(), fc.jsonValue(), (document, schema) => {
    expect(limitsIn(document)).toEqual(DEFAULT_LIMITS);
    const limits = limitsIn({ components: { schemas: { CreateCall_FIXED_TTS: schema } } });
    for (const limit of Object.values(limits)) expect(Number.isSafeInteger(limit) && limit > 0).toBe(true);
  }),
);

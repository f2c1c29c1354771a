import * as v from "valibot";
import { isObject, issuePath, issueText, withJsonSchema } from "../input/input-checks.ts";
import type { RefusalCode } from "../refusal.ts";
import { type CallerId, DISPLAY_NAME_LENGTH, isDisplayName } from "./caller-id.ts";
import { PHONE_NUMBER, PHONE_RULE } from "./phone-number.ts";

/** A caller in a request body: its fields, or the number alone. */
export type CallerIdInput = CallerId | string;

const NAME_RULE = `must be 1 to ${DISPLAY_NAME_LENGTH} characters on one line, one of them visible`;
const PHONE_JSON = { type: "string", pattern: PHONE_NUMBER.source, examples: ["+12025550123"] };

/** Fault of a field; with `key` undefined, of the value as a whole. */
interface CallerIdFault {
  readonly key?: keyof CallerId;
  readonly code: RefusalCode;
  readonly detail: string;
}

/** The schema of a caller; a number alone becomes an object. With `nullable`, null is valid too. */
export function callerIdSchema(description: string, nullable = false): v.GenericSchema<unknown, CallerId> {
  const schema = v.pipe(
    v.any(),
    v.rawTransform<unknown, CallerId | null>(({ dataset: { value }, addIssue, NEVER }) => {
      if (value === null && nullable) return null;
      const input = typeof value === "string" ? { phoneNumber: value } : value;
      const faults = faultsOf(input);
      for (const { key, code, detail } of faults) {
        const isField = isObject(value) && key !== undefined;
        addIssue({ message: issueText(code, detail), ...(isField ? { path: issuePath(key) } : {}) });
      }
      if (faults.length > 0) return NEVER;
      const { phoneNumber, displayName, withheld } = input as CallerId;
      return {
        ...(phoneNumber !== undefined && { phoneNumber }),
        ...(displayName !== undefined && { displayName: displayName.trim() }),
        ...(withheld !== undefined && { withheld }),
      };
    }),
  );
  // Strict requests use these to find unknown fields.
  const entries = { phoneNumber: {}, displayName: {}, withheld: {} };
  return withJsonSchema(Object.assign(schema, { entries }), {
    description,
    oneOf: [
      PHONE_JSON,
      {
        type: "object",
        properties: {
          phoneNumber: PHONE_JSON,
          displayName: { type: "string", minLength: 1, maxLength: DISPLAY_NAME_LENGTH },
          withheld: { type: "boolean", description: "Withholds number and name from the callee." },
        },
      },
      ...(nullable ? [{ type: "null" }] : []),
    ],
  }) as v.GenericSchema<unknown, CallerId>;
}

function faultsOf(input: unknown): CallerIdFault[] {
  if (!isObject(input)) return [{ code: "type_invalid", detail: "must be a phone number, or an object" }];
  const { phoneNumber, displayName, withheld } = input;
  const faults: CallerIdFault[] = [];
  const isPhoneValid = typeof phoneNumber === "string" && PHONE_NUMBER.test(phoneNumber);
  if (phoneNumber !== undefined && !isPhoneValid)
    faults.push({ key: "phoneNumber", code: "phone_number_invalid", detail: PHONE_RULE });
  if (displayName !== undefined && !(typeof displayName === "string" && isDisplayName(displayName)))
    faults.push({ key: "displayName", code: "value_invalid", detail: NAME_RULE });
  if (withheld !== undefined && typeof withheld !== "boolean")
    faults.push({ key: "withheld", code: "type_invalid", detail: "must be true or false" });
  return faults;
}

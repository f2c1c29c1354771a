import * as v from "valibot";
import { isObject, issuePath, issueText, type Schema, withJsonSchema } from "../input/input-checks.ts";
import type { RefusalCode } from "../refusal.ts";
import {
  isSipHeaderName,
  isSipHeaderValue,
  isSipUri,
  MAX_SIP_HEADER_VALUE,
  MAX_SIP_HEADERS,
  SIP_HEADER_RULE,
  SIP_URI_RULE,
} from "./sip-choice.ts";

/** The `sip` of a request body. */
export interface SipInput {
  /** Header fields of the INVITE, such as `{ "X-Order": "4711" }`, if the trunk allows their names. */
  headers?: Record<string, string> | undefined;
}

const VALUE_RULE = `must be text on one line, of 1 to ${MAX_SIP_HEADER_VALUE} characters`;

/** The schema of a call's choices for its INVITE. */
export function sipSchema(): Schema<SipInput> {
  const headers = v.pipe(
    v.any(),
    v.rawCheck<unknown>(({ dataset: { value }, addIssue }) => {
      if (!isObject(value))
        return addIssue({ message: issueText("type_invalid", "must be an object of header fields and their values") });
      const names = Object.keys(value);
      if (names.length > MAX_SIP_HEADERS)
        return addIssue({ message: issueText("too_long", `at most ${MAX_SIP_HEADERS} header fields are allowed`) });
      const usedNames = new Set<string>();
      for (const name of names) {
        const fault = faultOf(name, value[name], usedNames);
        usedNames.add(name.toLowerCase());
        if (fault === undefined) continue;
        addIssue({ message: issueText(...fault), path: issuePath(name) });
      }
    }),
  );
  return v.object({
    headers: v.optional(
      withJsonSchema(headers, {
        type: "object",
        maxProperties: MAX_SIP_HEADERS,
        propertyNames: { pattern: "^[Xx]-[A-Za-z0-9-]{1,60}$" },
        additionalProperties: { type: "string", minLength: 1, maxLength: MAX_SIP_HEADER_VALUE },
        description: "Header fields of the INVITE, if the trunk allows their names: `X-…` only, each on one line.",
      }) as Schema<Record<string, string>>,
    ),
  });
}

/** The schema of a SIP URI to call. */
export function sipUriSchema(): Schema<string> {
  return withJsonSchema(v.pipe(v.string(), v.check(isSipUri, issueText("value_invalid", SIP_URI_RULE))), {
    type: "string",
    maxLength: 350,
    examples: ["sip:reception@pbx.example.com"],
    description:
      "The SIP URI that is called, if the trunk allows its host. Rules for numbers and consents still apply to `phoneNumber`.",
  });
}

function faultOf(name: string, value: unknown, usedNames: ReadonlySet<string>): [RefusalCode, string] | undefined {
  if (!isSipHeaderName(name)) return ["value_invalid", `the name ${SIP_HEADER_RULE}`];
  if (usedNames.has(name.toLowerCase())) return ["value_invalid", "the header field is set twice"];
  if (typeof value !== "string") return ["type_invalid", VALUE_RULE];
  return isSipHeaderValue(value) ? undefined : ["value_invalid", VALUE_RULE];
}

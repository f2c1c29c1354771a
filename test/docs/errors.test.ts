import { test } from "vitest";
import { COMPLETED_REASONS, FAILED_REASONS } from "../../src/domain/calls/outcome.ts";
import { DEFAULT_LIMITS } from "../../src/domain/limits.ts";
import { problem } from "../../src/http/problems/problem.ts";
import type { ProblemCode } from "../../src/http/problems/problem-kind.ts";
import { PROBLEM_CODES, PROBLEMS } from "../../src/http/problems/problem-table.ts";
import { REASON_TEXTS } from "../../src/http/problems/reason-texts.ts";
import { expectPage, table } from "./generated.ts";

const INSTANCE = "inst_01k7zq0f8vf1c9m2x4s6t8w0ya";
const CALL = "call_01k7zq3n5de7h9k1m3p5r7t9vb";
const WEBHOOK = "hook_01k7zq5r9te2f4h6k8n0q2s4vw";
const DELIVERY = "dlv_01k7zq7t1vg4h6k8n0q2s4v6xz";
const PLACE = { base: "", fullPath: "/v1/calls", requestId: "req_6f1c2a9b0d3e4f5a" };

test("docs/errors.md lists every problem code and reason", () => expectPage("docs/errors.md", page()));

/** Response to a wrong number. */
const FAULTY_RESPONSE: object = JSON.parse(
  String(
    problem(PLACE, "phone_number_invalid", PROBLEMS.phone_number_invalid.example, {
      errors: [
        {
          pointer: "/target/phoneNumber",
          code: "phone_number_invalid",
          detail: "must be an E.164 number: + and 7 to 15 digits, such as +12025550100",
        },
      ],
    }).body,
  ),
);

function page(): string {
  return `# Errors

Made from the tables in \`src/http/problems\` by \`test/docs/errors.test.ts\`; run it with
\`UPDATE_DOCS=1\` after a change. A server shows the same on \`/docs/errors\`.

There are two kinds of bad news. **A request was refused**: nothing was changed, the response is a
problem document, and its \`code\` is one of [these](#why-a-request-was-refused). **A call failed**: the
request was fine, the response was 201, and \`outcome.reason\` is one of [these](#why-a-call-ended).

## A problem document

Every error of every layer has this form (RFC 9457, \`application/problem+json\`):

${fence("Problem", FAULTY_RESPONSE)}

- \`code\` is for programs: it is stable and never changes its meaning.
- \`type\` is for people: in a browser it opens this explanation, on the server itself. It is relative to
  the server (RFC 9457 §3.1.1 allows that) and begins with the base path.
- \`detail\` explains this one request: the wrong value and the fix. Show it to a person; never parse it.
- \`errors\` comes with every 400: all faults at once. \`pointer\` is a JSON Pointer into the body; for a wrong parameter of the
  query it is empty, and \`parameter\` names it.
- \`request_id\` leads to the request in the server's log. It is also in the header \`X-Request-Id\`.

The runtime's HTTP server refuses some requests before Ringport sees them (headers over 16 KiB, a request that is not complete after two minutes): 400, 408
or 431 with \`type\` \`about:blank\`.

## Why a request was refused

${table(
  ["status", "code", "title"],
  PROBLEM_CODES.map((code) => [String(PROBLEMS[code].status), `[\`${code}\`](#${code})`, PROBLEMS[code].title]),
)}

${PROBLEM_CODES.map(section).join("\n\n")}

## Why a call ended

\`GET /v1/calls/:callId?expand=outcome\` returns it as \`outcome.reason\`; \`outcome.detail\` adds the network's own words.

### Completed

${table(["reason", "meaning"], COMPLETED_REASONS.map(reason))}

### Failed

${table(["reason", "meaning"], FAILED_REASONS.map(reason))}
`;
}

const reason = (name: keyof typeof REASON_TEXTS): string[] => [
  `<a id="reason-${name}"></a>\`${name}\``,
  REASON_TEXTS[name],
];

function section(code: ProblemCode): string {
  const { status, title, headers = {}, meaning, fix } = PROBLEMS[code];
  const headerCodes = Object.entries(headers).map(([name, value]) => `\`${name}: ${value}\``);
  const headerSentence = headerCodes.length > 0 ? ` Comes with ${headerCodes.join(" and ")}.` : "";
  return `### ${code}\n\n**${status}** ${title}.${headerSentence}\n\n${meaning} ${fix}\n\n${example(code)}`;
}

/** Codes that only occur inside `errors`, and a field with such a fault. */
const IN_ERRORS: Partial<Record<ProblemCode, string>> = {
  required: "/target",
  type_invalid: "/name",
  value_invalid: "/type",
  too_short: "/name",
  too_long: "/tts/text",
  unknown_field: "/tts/voice",
};

/** Typical place of a code. */
function pathOf(code: ProblemCode): string {
  if (code === "not_found") return "/v1/call";
  if (code === "not_ready") return "/readyz";
  if (code === "provider_unknown" || code === "instance_quota") return "/v1/instances";
  if (code === "webhook_quota") return "/v1/webhooks";
  if (code === "webhook_not_found") return `/v1/webhooks/${WEBHOOK}`;
  if (code === "consent_not_found" || code === "consent_quota") return "/v1/consents/+12025550100";
  if (code === "webhook_disabled") return `/v1/webhooks/${WEBHOOK}/test`;
  if (code === "delivery_not_found" || code === "delivery_quota")
    return `/v1/webhooks/${WEBHOOK}/deliveries/${DELIVERY}/replay`;
  if (code === "range_not_satisfiable") return `/v1/calls/${CALL}/recording`;
  if (code.startsWith("recording_")) return `/simulator/calls/${CALL}/heard.wav`;
  if (code === "call_not_found") return `/v1/calls/${CALL}`;
  if (code === "too_many_listeners") return `/v1/calls/${CALL}/listen`;
  if (/stream|call_ended|upgrade/.test(code)) return `/v1/calls/${CALL}/stream`;
  if (code === "linked_by_operator") return `/v1/instances/${INSTANCE}/unlink`;
  if (code.startsWith("pairing_code")) return `/v1/instances/${INSTANCE}/pairing-code`;
  return code === "qr_unavailable" || code === "instance_already_linked"
    ? `/v1/instances/${INSTANCE}/configure`
    : "/v1/calls";
}

function example(code: ProblemCode): string {
  const detail = PROBLEMS[code].example;
  const pointer = IN_ERRORS[code];
  if (pointer !== undefined) return fence("Fault", { pointer, code, detail });
  const members = code === "body_too_large" ? { limit: DEFAULT_LIMITS.bodyBytes } : {};
  const { body } = problem({ ...PLACE, fullPath: pathOf(code) }, code, detail, { members });
  // Without the list of faults, which repeats the detail for these codes.
  const { errors: _, ...rest } = JSON.parse(String(body));
  return fence("Problem", rest);
}

const fence = (schema: string, value: object): string =>
  `\`\`\`json ${schema}\n${JSON.stringify(value, undefined, 2)}\n\`\`\``;

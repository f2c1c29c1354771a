import * as fc from "fast-check";
import { SipHeaders } from "../../../adapters/sip-stack/message/headers.ts";
import type { SipMessage } from "../../../adapters/sip-stack/message/sip-message.ts";
import { CODE_POINT } from "../../support/fuzz.ts";

const chars = (alphabet: string, minLength = 1): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...alphabet), minLength, maxLength: 12 });

const ALPHANUM = "abcXYZ019";
/** A token: names of methods, fields, parameters. */
export const token: fc.Arbitrary<string> = chars(`${ALPHANUM}-.!%*_+\`'~`);
/** A field's value as read: any text without line breaks and outer white space. */
export const fieldValue: fc.Arbitrary<string> = fc
  .string({ unit: CODE_POINT, maxLength: 20 })
  .map((text) => text.replace(/[\r\n\ud800-\udfff]/g, "").replace(/^[ \t]+|[ \t]+$/g, ""));
/** A host of a URI or Via. */
export const host: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom("example.com", "192.0.2.1", "a_b.test", "2001:db8::1", "::ffff:1.2.3.4"),
  chars("abz01").map((name) => `h${name}.test`),
);
export const port: fc.Arbitrary<number | undefined> = fc.option(fc.integer({ min: 1, max: 65_535 }), {
  nil: undefined,
});

const knownFields = fc.record({
  from: chars(ALPHANUM),
  to: chars(ALPHANUM),
  tag: token,
  callId: chars(`${ALPHANUM}@.()<>:\\"/[]?{}`),
  cseq: fc.integer({ min: 0, max: 0xffff_ffff }),
  branch: token,
});

/** Any message that can be sent: the mandatory fields, and random others. */
export const anyMessage: fc.Arbitrary<SipMessage> = fc
  .record({
    method: token,
    fields: knownFields,
    otherFields: fc.array(
      fc.tuple(
        token.map((name) => `X-${name}`),
        fieldValue,
      ),
      { maxLength: 4 },
    ),
    body: fc.uint8Array({ maxLength: 24 }),
    response: fc.option(fc.record({ status: fc.integer({ min: 100, max: 699 }), reason: fieldValue })),
  })
  .map(({ method, fields, otherFields, body, response }): SipMessage => {
    const headers = new SipHeaders()
      .add("Via", `SIP/2.0/UDP host.test;branch=${fields.branch}`)
      .add("From", `<sip:${fields.from}@a.test>;tag=${fields.tag}`)
      .add("t", `sip:${fields.to}@b.test`)
      .add("Call-ID", fields.callId)
      .add("CSeq", `${fields.cseq} ${method}`);
    for (const [name, value] of otherFields) headers.add(name, value);
    return response === null
      ? { kind: "request", method, uri: `sip:${fields.to}@b.test;lr`, headers, body }
      : { kind: "response", ...response, headers, body };
  });

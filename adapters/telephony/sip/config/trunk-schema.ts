import * as v from "valibot";
import { parseRange } from "../../../../src/base/ip-range.ts";
import { shown } from "../../../../src/base/shown.ts";
import { isPrefix, PREFIX_RULE } from "../../../../src/domain/calls/call-limits.ts";
import { isSipHeaderEntry, isUriHost } from "../../../../src/domain/calls/sip-choice.ts";
import {
  CALLER_ID_RULE,
  DISPLAY_NAME_LENGTH,
  isCallerIdEntry,
  isDisplayName,
} from "../../../../src/domain/numbers/caller-id.ts";
import { CODEC_NAMES } from "../../../sip-stack/media/codecs/codec.ts";
import { isToken } from "../../../sip-stack/message/grammar.ts";
import { fieldKey } from "../../../sip-stack/message/headers.ts";
import { diallingFormat, NUMBER_FORMATS } from "./number-format.ts";
import { isContactHost, isHost, isNextHop, isPublicHost, isUriOrUser } from "./trunk-addresses.ts";
import type { TrunkCodec, TrunkIdentity } from "./trunk-config.ts";

const codecs = (conjunction: "and" | "or"): string =>
  `${CODEC_NAMES.slice(0, -1).join(", ")} ${conjunction} ${CODEC_NAMES.at(-1)}`;
/** A provider's name, `sip/<name>`, has at most 64 characters. */
const NAME = /^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/;
/** The value of a header field has no line break. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: a value must not contain these
const ONE_LINE = /^[^\u0000-\u0008\u000a-\u001f\u007f]*$/;
const DAY_MS = 86_400_000;

/** Header fields that the adapter sets itself. */
const ADAPTER_HEADERS: ReadonlySet<string> = new Set(
  (
    "via from to call-id cseq contact max-forwards route record-route content-type content-length authorization " +
    "proxy-authorization require supported allow session-expires min-se rack rseq"
  ).split(" "),
);

type Message = (issue: v.BaseIssue<unknown>) => string;

/** `is 5, but must be …`. */
export const must =
  (rule: string): Message =>
  ({ input }) =>
    `is ${shown(input)}, but must be ${rule}`;

/** Like {@link must}, for an object, whose schema also reports missing keys. */
export const objectMust =
  (rule: string): Message =>
  (issue) =>
    issue.path === undefined ? must(rule)(issue) : "is missing";

/** Like {@link must}, without the value, for secrets. */
const secretMust =
  (rule: string): Message =>
  () =>
    `must be ${rule}`;

export const trunkText = (rule: string, isValid: (text: string) => boolean) =>
  v.pipe(v.string(must(rule)), v.check(isValid, must(rule)));

const numberBetween = (rule: string, min: number, max: number) =>
  v.pipe(
    v.number(must(rule)),
    v.check((value) => value >= min && value <= max, must(rule)),
  );

export const wholeNumberBetween = (rule: string, min: number, max: number) =>
  v.pipe(
    v.number(must(rule)),
    v.check((value) => Number.isInteger(value) && value >= min && value <= max, must(rule)),
  );

const flag = () => v.optional(v.boolean(must("true or false")));

const lineOfText = (rule: string) =>
  trunkText(rule, (value) => value !== "" && ONE_LINE.test(value) && value.length <= 1_000);

const user = (rule: string) => v.optional(lineOfText(rule));

const codec = v.pipe(
  v.string(must(codecs("or"))),
  v.transform((name) => CODEC_NAMES.find((codecName) => codecName.toLowerCase() === name.toLowerCase()) ?? name),
  v.picklist(CODEC_NAMES, must(codecs("or"))),
);

const IDENTITIES: readonly TrunkIdentity[] = ["from", "p-asserted", "p-preferred", "remote-party-id"];
const IDENTITY_RULE = `${IDENTITIES.join(", ")}, a list of these, or none`;

const RTP_PORTS = 'two ports of 1 to 65535, the first one lower, with an even port among them, such as "10000-20000"';

/** `"10000-20000"`, or `[10000, 20000]`. */
const rtpPorts = v.pipe(
  v.any(),
  v.rawTransform<unknown, readonly [number, number]>(({ dataset: { value }, addIssue, NEVER }) => {
    const pair = typeof value === "string" ? value.split("-").map((part) => Number(part.trim() || "NaN")) : value;
    const [first, last] = Array.isArray(pair) && pair.length === 2 ? (pair as unknown[]) : [];
    const areValidPorts = [first, last].every(
      (port) => Number.isInteger(port) && (port as number) >= 1 && (port as number) <= 65_535,
    );
    // RTP takes an even port and RTCP the next one.
    const firstEvenPort = (first as number) + ((first as number) % 2);
    if (areValidPorts && firstEvenPort + 1 <= (last as number)) return [first as number, last as number];
    addIssue({ message: `is ${shown(value)}, but must be ${RTP_PORTS}` });
    return NEVER;
  }),
);

const PEM = "PEM text or the path of a file";

const headers = v.record(
  v.pipe(
    v.string(),
    v.check(isToken, () => "is not a header field name"),
    v.check(
      (name) => !ADAPTER_HEADERS.has(fieldKey(name)),
      () => "is set by Ringport; remove it",
    ),
  ),
  trunkText("text on one line", (value) => ONE_LINE.test(value) && value.length <= 4_000),
  must("an object of header fields and their values"),
);

const HEADER_ENTRY = "the name of a header field, such as X-Order, or the beginning of one and *, such as X-Order-*";
const URI_HOST = "a host name or an IP address, with its port if the URIs have one, such as pbx.example.com:5080";

const tls = v.object(
  {
    ca: v.optional(trunkText(PEM, (value) => value !== "")),
    servername: v.optional(trunkText("a host name", isHost)),
    insecure: flag(),
    cert: v.optional(trunkText(PEM, (value) => value !== "")),
    key: v.optional(
      v.pipe(
        v.string(secretMust(PEM)),
        v.check((value) => value !== "", secretMust(PEM)),
      ),
    ),
  },
  must("an object"),
);

const NETWORK = "a network or an address, such as 203.0.113.0/24, 198.51.100.7 or 2001:db8::/32";

const networks = v.optional(
  v.pipe(
    v.array(
      trunkText(NETWORK, (value) => parseRange(value) !== undefined),
      must(`a list: ${NETWORK}`),
    ),
    v.check((list) => list.length > 0, "is empty; leave it out for the default"),
  ),
);

const listen = v.object(
  {
    transport: v.picklist(["udp", "tcp", "tls"], must("udp, tcp or tls")),
    port: wholeNumberBetween("a port: 1 to 65535, or 0 for a free one", 0, 65_535),
    address: v.optional(trunkText("an IP address", isHost)),
  },
  objectMust("an object with transport and port"),
);

/** The name of a trunk or route. */
export const name = () => trunkText("1 to 40 lower-case letters, digits and hyphens", (value) => NAME.test(value));

/** The schema of a trunk. `parseTrunks` finds faults that involve two fields. */
export const trunkSchema = v.object(
  {
    name: name(),
    server: trunkText("a SIP URI, such as sip:sip.example.com or sip:10.0.0.5:5070;transport=tcp", isNextHop),
    domain: v.optional(trunkText("a host name or an IP address", isHost)),
    user: user("the account's user name"),
    authUser: user("the user name of the digest"),
    password: v.optional(
      v.pipe(
        v.string(secretMust("text")),
        v.check((value) => value !== "", secretMust("left out if there is none, not empty")),
      ),
    ),
    realms: v.optional(
      v.pipe(
        v.array(lineOfText("the name of a realm"), must("a list of realms")),
        v.check((list) => list.length > 0, "is empty; leave it out to accept the first realms that the servers name"),
      ),
    ),
    from: v.optional(trunkText("a SIP URI or a user", isUriOrUser)),
    callerId: v.optional(trunkText("a number, a user or a SIP URI", isUriOrUser)),
    callerIds: v.optional(
      v.union(
        [v.literal("*"), v.array(trunkText(CALLER_ID_RULE, isCallerIdEntry))],
        must(`"*", or a list; each entry is ${CALLER_ID_RULE}`),
      ),
    ),
    identity: v.optional(
      v.union([v.picklist([...IDENTITIES, "none"]), v.array(v.picklist(IDENTITIES))], must(IDENTITY_RULE)),
    ),
    displayName: v.optional(trunkText(`a name of 1 to ${DISPLAY_NAME_LENGTH} characters`, isDisplayName)),
    withheld: flag(),
    register: flag(),
    outboundProxy: v.optional(trunkText("a SIP URI, such as sip:proxy.example.com;lr", isNextHop)),
    publicAddress: v.optional(trunkText("an IP address or a host name, with or without a port", isPublicHost)),
    contact: v.optional(trunkText("a SIP URI", isContactHost)),
    rtpPorts: v.optional(rtpPorts),
    codecs: v.optional(
      v.pipe(
        v.array(codec, must(`a list of ${codecs("and")}`)),
        v.check((list) => list.length > 0, `is empty; name at least one of ${codecs("and")}`),
        v.transform((list): TrunkCodec[] => [...new Set(list)]),
      ),
    ),
    srtp: v.optional(v.picklist(["off", "optional", "required"], must("off, optional or required"))),
    tls: v.optional(tls),
    mediaFrom: networks,
    signallingFrom: networks,
    maxCalls: v.optional(wholeNumberBetween("a whole number from 1", 1, 1_000_000)),
    lines: v.optional(wholeNumberBetween("a whole number from 1 to 100", 1, 100)),
    callsPerSecond: v.optional(
      v.pipe(
        v.number(must("a number above 0")),
        v.check((value) => value > 0 && value <= 100_000, must("above 0")),
      ),
    ),
    headers: v.optional(headers),
    callHeaders: v.optional(
      v.array(trunkText(HEADER_ENTRY, isSipHeaderEntry), must(`a list; each entry is ${HEADER_ENTRY}`)),
    ),
    callUriHosts: v.optional(v.array(trunkText(URI_HOST, isUriHost), must(`a list; each entry is ${URI_HOST}`))),
    probe: v.optional(v.picklist(["options", "none"], must("options or none"))),
    crlfProbe: flag(),
    users: v.optional(
      v.union([v.literal("*"), v.array(v.pipe(v.string(), v.minLength(1)))], must('"*", or a list of user ids')),
    ),
    allowedPrefixes: v.optional(
      v.pipe(
        v.array(trunkText(PREFIX_RULE, isPrefix), must(`a list of prefixes: ${PREFIX_RULE}`)),
        v.check((list) => list.length > 0, "is empty; leave it out to allow every number"),
      ),
    ),
    allowEmergency: flag(),
    allowPremium: flag(),
    numberFormat: v.optional(trunkText(NUMBER_FORMATS, (value) => diallingFormat(value) !== undefined)),
    userPhone: flag(),
    followRedirects: flag(),
    transfer: flag(),
    sessionTimers: flag(),
    reliableProvisionals: flag(),
    holdTimeoutMs: v.optional(numberBetween("ms, 1000 to a day", 1_000, DAY_MS)),
    mediaLossMs: v.optional(numberBetween("ms, 1000 to a day", 1_000, DAY_MS)),
    requireInboundAudio: flag(),
    strictRtp: flag(),
    trace: flag(),
    listen: v.optional(listen),
  },
  objectMust("an object with name and server"),
);

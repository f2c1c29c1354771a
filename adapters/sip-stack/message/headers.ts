import { splitList } from "./grammar.ts";

/** Compact forms of header field names (RFC 3261 section 7.3.3 and the IANA registry), with their long forms. */
const COMPACT_FORMS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    a: "accept-contact",
    b: "referred-by",
    c: "content-type",
    d: "request-disposition",
    e: "content-encoding",
    f: "from",
    i: "call-id",
    j: "reject-contact",
    k: "supported",
    l: "content-length",
    m: "contact",
    n: "identity-info",
    o: "event",
    r: "refer-to",
    s: "subject",
    t: "to",
    u: "allow-events",
    v: "via",
    x: "session-expires",
    y: "identity",
  }),
);

interface Field {
  /** The name as written. */
  readonly name: string;
  /** The long form in lower case. */
  readonly key: string;
  readonly value: string;
}

/** The header fields of a message (RFC 3261 section 7.3), in order; names are case-insensitive, long or compact. */
export class SipHeaders implements Iterable<readonly [name: string, value: string]> {
  #fields: Field[] = [];

  /** The value of the first field with this name. */
  get(name: string): string | undefined {
    const key = fieldKey(name);
    return this.#fields.find((field) => field.key === key)?.value;
  }

  has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  /** The values of all fields with this name, one per field. */
  fields(name: string): string[] {
    const key = fieldKey(name);
    return this.#fields.filter((field) => field.key === key).map(({ value }) => value);
  }

  /** The list elements in all fields with this name: Via, Route, Contact, Allow and the like. */
  list(name: string): string[] {
    return this.fields(name).flatMap(splitList);
  }

  /** Adds a field at the end. */
  add(name: string, value: string): this {
    this.#fields.push({ name, key: fieldKey(name), value });
    return this;
  }

  /** Adds a field before all others: a new Via comes first. */
  addFirst(name: string, value: string): this {
    this.#fields.unshift({ name, key: fieldKey(name), value });
    return this;
  }

  /** Replaces all fields with this name with one, at the position of the first. */
  set(name: string, value: string): this {
    const key = fieldKey(name);
    const at = this.#fields.findIndex((field) => field.key === key);
    if (at < 0) return this.add(name, value);
    this.#fields[at] = { name, key, value };
    this.#fields = this.#fields.filter((field, index) => field.key !== key || index === at);
    return this;
  }

  delete(name: string): this {
    const key = fieldKey(name);
    this.#fields = this.#fields.filter((field) => field.key !== key);
    return this;
  }

  clone(): SipHeaders {
    const copy = new SipHeaders();
    copy.#fields = [...this.#fields];
    return copy;
  }

  *[Symbol.iterator](): Iterator<readonly [name: string, value: string]> {
    for (const { name, value } of this.#fields) yield [name, value];
  }
}

/** The key of a field: its long name in lower case. */
export function fieldKey(name: string): string {
  const lower = name.toLowerCase();
  return COMPACT_FORMS.get(lower) ?? lower;
}

/**
 * The option tags (RFC 3261 section 19.2) in all fields with this name, in lower case: Require, Supported, Unsupported.
 */
export function optionTags(headers: SipHeaders, name: string): string[] {
  return headers.list(name).map((tag) => tag.toLowerCase());
}

import { splitList } from "./grammar.ts";

/** The one-letter names (RFC 3261 section 7.3.3 and the registry of IANA), with the names they stand for. */
const COMPACT: ReadonlyMap<string, string> = new Map(
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
  /** As it is written. */
  readonly name: string;
  /** Lower case, the long form. */
  readonly key: string;
  readonly value: string;
}

/** The header fields of a message, in their order; names in any case, long or compact. */
export class SipHeaders implements Iterable<readonly [name: string, value: string]> {
  #fields: Field[] = [];

  /** The value of the first field of this name. */
  get(name: string): string | undefined {
    const key = fieldKey(name);
    return this.#fields.find((field) => field.key === key)?.value;
  }

  has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  /** The value of every field of this name, one per field as it was written. */
  fields(name: string): string[] {
    const key = fieldKey(name);
    return this.#fields.filter((field) => field.key === key).map(({ value }) => value);
  }

  /** Every element of the lists in all fields of this name: Via, Route, Contact, Allow and the like. */
  list(name: string): string[] {
    return this.fields(name).flatMap(splitList);
  }

  /** Adds a field at the end. */
  add(name: string, value: string): this {
    this.#fields.push({ name, key: fieldKey(name), value });
    return this;
  }

  /** Adds a field before all others: a new Via goes on top. */
  addFirst(name: string, value: string): this {
    this.#fields.unshift({ name, key: fieldKey(name), value });
    return this;
  }

  /** The field's only value from now on, at the place of the first one. */
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

/** What a field is known by: its long name in lower case. */
export function fieldKey(name: string): string {
  const lower = name.toLowerCase();
  return COMPACT.get(lower) ?? lower;
}

/** The option tags in all fields of this name, in lower case: of Require, Supported, Unsupported (RFC 3261 section 19.2). */
export function optionTags(headers: SipHeaders, name: string): string[] {
  return headers.list(name).map((tag) => tag.toLowerCase());
}

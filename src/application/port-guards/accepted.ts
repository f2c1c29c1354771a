import { type Guarded, type GuardParts, guarded, type Rules } from "./guarded.ts";
import { PortFault } from "./port-fault.ts";
import type { Accept } from "./rules.ts";

/** Accepts values for which `isValid` returns true. @param kind description for the message, such as `a string` */
export function acceptOnly<Value>(kind: string, isValid: (value: unknown) => boolean): Accept<Value> {
  return (value, name) => {
    if (!isValid(value)) throw new PortFault(`${name} is ${shape(value)}: it must be ${kind}`);
    return value as Value;
  };
}

/** Accepts the values of another rule, or undefined; null becomes undefined. */
export function acceptOptional<Value>(accept: Accept<Value>): Accept<Value | undefined> {
  return (value, name, parts) => (value === undefined || value === null ? undefined : accept(value, name, parts));
}

/** Accepts any value. */
export const acceptAny = <Value>(value: unknown): Value => value as Value;

/** Ignores the value. */
export const acceptVoid = (): void => undefined;

/** True for a promise. */
export const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";

/** True for an object that is neither an array nor a promise. */
export const isPlainObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !isThenable(value);

const isText = (value: unknown): boolean => typeof value === "string";

/** A finite number that is not negative. */
const isCount = (value: unknown): boolean => typeof value === "number" && value >= 0 && value < Infinity;

export const acceptText: Accept<string> = acceptOnly("a string", isText);
export const acceptCount: Accept<number> = acceptOnly("a number of at least 0", isCount);
export const acceptFlag: Accept<boolean> = acceptOnly("true or false", (value) => typeof value === "boolean");

/** Accepts a sample rate, Hz. */
export const acceptSampleRate: Accept<number> = acceptOnly(
  "a rate from 1000 to 768000 Hz",
  (value) => typeof value === "number" && value >= 1_000 && value <= 768_000,
);

/** Accepts an object whose members pass these rules. */
export function acceptRecord<Value>(members: { readonly [Key in keyof Value]?: Accept<Value[Key]> }): Accept<Value> {
  return (value, name, parts) => {
    if (!isPlainObject(value)) throw new PortFault(`${name} is ${shape(value)}: it must be an object`);
    for (const [key, accept] of Object.entries<Accept<unknown> | undefined>(members))
      accept?.(value[key], `${key} of ${name}`, parts);
    return value as Value;
  };
}

/** Accepts an array whose items pass the rule. */
export function acceptList<Item>(accept: Accept<Item>): Accept<readonly Item[]> {
  return (value, name, parts) => {
    if (!Array.isArray(value)) throw new PortFault(`${name} is ${shape(value)}: it must be an array`);
    for (const item of value) accept(item, `an item of ${name}`, parts);
    return value as readonly Item[];
  };
}

/** Accepts a port that another port has returned, and guards it with its own rules. */
export function acceptPort<Port extends object>(rules: Rules<Port>, name: string): Accept<Guarded<Port>> {
  return (value, source, parts: GuardParts) => {
    if (!isPlainObject(value)) throw new PortFault(`${source} returned ${shape(value)}: it must return an object`);
    return guarded(value as Port, rules, name, parts);
  };
}

/** Accepts an event or action: an object with a type and no functions, symbols or BigInts. */
export function acceptTyped<Value extends { readonly type: string }>(): Accept<Value> {
  return (value, name) => {
    if (!isPlainObject(value) || typeof value.type !== "string")
      throw new PortFault(`${name} yielded ${shape(value)}: it must yield objects with a type`);
    for (const [key, member] of Object.entries(value)) {
      const kind = typeof member;
      if (kind === "function" || kind === "symbol" || kind === "bigint")
        throw new PortFault(`${key} in the "${value.type.slice(0, 40)}" that ${name} yielded is a ${kind}`);
    }
    return value as unknown as Value;
  };
}

/**
 * Accepts a JSON object and returns a copy, so that a getter that throws, for example, fails here rather than when it
 * is read.
 */
export function acceptPlainObject<Value extends object>(value: unknown, name: string): Value {
  if (!isPlainObject(value)) throw new PortFault(`${name} is ${shape(value)}: it must be an object`);
  return JSON.parse(JSON.stringify(value)) as Value;
}

function shape(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return "an array";
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return value instanceof Promise ? "a promise" : `a value of type ${typeof value}`;
}

import { type Guarded, type GuardParts, guarded, type Rules } from "./guarded.ts";
import { PortFault } from "./port-fault.ts";
import type { Accept } from "./rules.ts";

/** A value of which `isRight` is true. @param kind for the message: `a text` */
export function only<Value>(kind: string, isRight: (value: unknown) => boolean): Accept<Value> {
  return (value, name) => {
    if (!isRight(value)) throw new PortFault(`${name} is ${shape(value)}: it must be ${kind}`);
    return value as Value;
  };
}

/** The same, or undefined; null counts as undefined. */
export function acceptOptional<Value>(accept: Accept<Value>): Accept<Value | undefined> {
  return (value, name, parts) => (value === undefined || value === null ? undefined : accept(value, name, parts));
}

/** Any value. */
export const anything = <Value>(value: unknown): Value => value as Value;

/** Nothing, whatever was returned. */
export const nothing = (): void => undefined;

/** True for a promise. */
export const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";

/** True for an object that is neither an array nor a promise. */
export const isPlainObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !isThenable(value);

const isText = (value: unknown): boolean => typeof value === "string";

/** A finite number that is not negative. */
const isCount = (value: unknown): boolean => typeof value === "number" && value >= 0 && value < Infinity;

export const acceptText: Accept<string> = only("a text", isText);
export const acceptCount: Accept<number> = only("a number of at least 0", isCount);
export const acceptFlag: Accept<boolean> = only("true or false", (value) => typeof value === "boolean");

/** Samples per second of audio. */
export const sampleRate: Accept<number> = only(
  "a rate from 1000 to 768000 Hz",
  (value) => typeof value === "number" && value >= 1_000 && value <= 768_000,
);

/** An object with these members, if they are of these kinds. */
export function acceptRecord<Value>(members: { readonly [Key in keyof Value]?: Accept<Value[Key]> }): Accept<Value> {
  return (value, name, parts) => {
    if (!isPlainObject(value)) throw new PortFault(`${name} is ${shape(value)}: it must be an object`);
    for (const [key, accept] of Object.entries<Accept<unknown> | undefined>(members))
      accept?.(value[key], `${key} of ${name}`, parts);
    return value as Value;
  };
}

/** An array of such items. */
export function list<Item>(accept: Accept<Item>): Accept<readonly Item[]> {
  return (value, name, parts) => {
    if (!Array.isArray(value)) throw new PortFault(`${name} is ${shape(value)}: it must be an array`);
    for (const item of value) accept(item, `an item of ${name}`, parts);
    return value as readonly Item[];
  };
}

/** A port that a port has returned, guarded by its own rules. */
export function port<Port extends object>(rules: Rules<Port>, name: string): Accept<Guarded<Port>> {
  return (value, source, parts: GuardParts) => {
    if (!isPlainObject(value)) throw new PortFault(`${source} returned ${shape(value)}: it must return an object`);
    return guarded(value as Port, rules, name, parts);
  };
}

/** An event or action: an object with a type and no functions, symbols or BigInts. */
export function typed<Value extends { readonly type: string }>(): Accept<Value> {
  return (value, name) => {
    if (!isPlainObject(value) || typeof value.type !== "string")
      throw new PortFault(`${name} yielded ${shape(value)}: it must yield objects with a type`);
    for (const [key, member] of Object.entries(value)) {
      const kind = typeof member;
      if (kind === "function" || kind === "symbol" || kind === "bigint")
        throw new PortFault(`${key} of "${value.type.slice(0, 40)}" of ${name} is a ${kind}`);
    }
    return value as unknown as Value;
  };
}

/** The copy of a JSON object: whatever else it holds, such as a getter that throws, is a fault here and not at its reader. */
export function plainObject<Value extends object>(value: unknown, name: string): Value {
  if (!isPlainObject(value)) throw new PortFault(`${name} is ${shape(value)}: it must be an object`);
  return JSON.parse(JSON.stringify(value)) as Value;
}

function shape(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return "an array";
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return value instanceof Promise ? "a promise" : `a value of type ${typeof value}`;
}

import type { Timers } from "../../base/timers.ts";
import type { Logger } from "../../ports/logger.ts";
import { PortFault } from "./port-fault.ts";

declare const GUARDED: unique symbol;

/**
 * A port as the core uses it: made only by {@link guarded}. Each call ends in time, with a value of the right kind or
 * with an `Error`; no call leaves an unhandled rejection.
 */
export type Guarded<Port> = Port & { readonly [GUARDED]: true };

/** Dependencies of guards. */
export interface GuardParts {
  readonly system: Timers;
  readonly log: Pick<Logger, "warn">;
}

/** A member of a port. */
export interface Member {
  readonly port: object;
  readonly key: string;
  /** Name for messages, such as `speech.voices`. */
  readonly name: string;
  readonly parts: GuardParts;
}

/** Makes the getter of a guarded member. The member is looked up with each use; undefined if the port lacks it. */
export type Rule<Type> = (member: Member) => () => Type | undefined;

/** The rule of each member of a port: a new member does not compile without one. */
export type Rules<Port> = { readonly [Key in keyof Port]-?: Rule<NonNullable<Port[Key]>> };

/**
 * The guarded port.
 * @param name the port's name in messages, such as `speech`
 * @throws {PortFault} it is not an object
 */
export function guarded<Port extends object>(
  port: Port,
  rules: Rules<Port>,
  name: string,
  parts: GuardParts,
): Guarded<Port> {
  if (port === null || (typeof port !== "object" && typeof port !== "function"))
    throw new PortFault(`${name} is ${port === null ? "null" : typeof port}: it must be an object`);
  const Guard = guardOf(rules);
  return new Guard(port, name, parts) as Guarded<Port>;
}

type GuardClass = new (port: object, name: string, parts: GuardParts) => object;

/** Guard classes by their rules. */
const guardClasses = new WeakMap<object, GuardClass>();

/** The guard of all ports with these rules. A call has several, so a member is prepared when it is first used. */
function guardOf(rules: object): GuardClass {
  const preparedClass = guardClasses.get(rules);
  if (preparedClass) return preparedClass;
  class Guard {
    readonly #port: object;
    readonly #name: string;
    readonly #parts: GuardParts;
    readonly #getters: Record<string, () => unknown> = {};

    constructor(port: object, name: string, parts: GuardParts) {
      this.#port = port;
      this.#name = name;
      this.#parts = parts;
    }

    static {
      for (const [key, rule] of Object.entries<Rule<unknown>>({ ...rules }))
        Object.defineProperty(Guard.prototype, key, {
          enumerable: true,
          get(this: Guard) {
            const preparedGetter = this.#getters[key];
            if (preparedGetter) return preparedGetter();
            const member = { port: this.#port, key, name: `${this.#name}.${key}`, parts: this.#parts };
            const getter = rule(member);
            this.#getters[key] = getter;
            return getter();
          },
        });
    }
  }
  guardClasses.set(rules, Guard);
  return Guard;
}

import { within } from "../../base/timers.ts";
import { isThenable } from "./accepted.ts";
import type { GuardParts, Member, Rule } from "./guarded.ts";
import { PortBusy, PortFault, portError } from "./port-fault.ts";

// biome-ignore lint/suspicious/noExplicitAny: a rule fits the parameters of every method
type Method<Result> = (...args: any[]) => Result;

/**
 * Checks a value from a port, and guards the value if it is a port itself.
 * @throws {PortFault} the value is of another kind
 */
export type Accept<Value> = (value: unknown, name: string, parts: GuardParts) => Value;

/**
 * The bound on an asynchronous call: a time limit, ms, or a note on what ends the wait, such as the name of a core
 * file.
 */
export type Limit = number | { readonly boundedBy: string };

/** Options of {@link resolves}. */
export interface ResolveOptions<Value> {
  readonly accept?: Accept<Value>;
  /** Maximum number of calls that may be pending at the same time. Default: any number. */
  readonly maxPending?: number;
}

/** An asynchronous method: resolves with an accepted value, or rejects with an `Error`, within the limit. */
export function resolves<F extends Method<Promise<unknown>>>(
  limit: Limit,
  { accept, maxPending = Infinity }: ResolveOptions<Awaited<ReturnType<F>>> = {},
): Rule<F> {
  return (member) => {
    let pending = 0;
    const invoke = async (...args: unknown[]): Promise<unknown> => {
      if (pending >= maxPending) throw new PortBusy(`${member.name} already has ${pending} calls pending`);
      pending++;
      try {
        return await withinLimit(member, limit, callAsync(member, args, accept));
      } finally {
        pending--;
      }
    };
    return presentMethod(member, invoke as unknown as F);
  };
}

/** An asynchronous method that never rejects: its failure is logged. */
export function settles<F extends Method<Promise<void>>>(limit: Limit): Rule<F> {
  return (member) => {
    const warn = warnOnce(member);
    const end = async (...args: unknown[]): Promise<void> => {
      await withinLimit(member, limit, callAsync(member, args, undefined)).catch(warn);
    };
    return presentMethod(member, end as unknown as F);
  };
}

/** A method that returns nothing and never throws: its failure is logged, once for each object. Allocates nothing. */
export function notifies<F extends Method<void>>(): Rule<F> {
  return (member) => {
    const warn = warnOnce(member);
    const notify = (a: unknown, b: unknown, c: unknown): void => {
      try {
        callSync(member, warn, a, b, c);
      } catch (error) {
        warn(error);
      }
    };
    return presentMethod(member, notify as unknown as F);
  };
}

/** A method that returns at once, and throws an `Error` if it fails. Allocates nothing. */
export function mayThrow<F extends Method<unknown>>(accept?: Accept<ReturnType<F>>): Rule<F> {
  return (member) => {
    const warn = warnOnce(member);
    const call = (a: unknown, b: unknown, c: unknown): unknown => {
      try {
        const result = callSync(member, warn, a, b, c);
        return accept ? accept(result, member.name, member.parts) : result;
      } catch (error) {
        throw portError(member.name, error);
      }
    };
    return presentMethod(member, call as unknown as F);
  };
}

/** A method that returns at once and never throws: in place of a failure it returns a fallback. Allocates nothing. */
export function returns<F extends Method<unknown>>(accept: Accept<ReturnType<F>>, fallback: ReturnType<F>): Rule<F> {
  return (member) => {
    const warn = warnOnce(member);
    const call = (a: unknown, b: unknown, c: unknown): unknown => {
      try {
        return accept(callSync(member, warn, a, b, c), member.name, member.parts);
      } catch (error) {
        warn(error);
        return fallback;
      }
    };
    return presentMethod(member, call as unknown as F);
  };
}

/** A property. A value that cannot be read, or is of another kind, is replaced by the fallback. */
export function reads<Type>(accept: Accept<Type>, fallback?: Type): Rule<Type> {
  return (member) => {
    const warn = warnOnce(member);
    return () => {
      try {
        const value = (member.port as Record<string, unknown>)[member.key];
        return value === undefined ? fallback : accept(value, member.name, member.parts);
      } catch (error) {
        warn(error);
        return fallback;
      }
    };
  };
}

/**
 * A property whose reader handles its faults: a value that cannot be read, or is of another kind, throws an `Error`.
 */
export function readsOrThrows<Type>(accept: Accept<Type | undefined>): Rule<Type> {
  return ({ port, key, name, parts }) =>
    () => {
      try {
        return accept((port as Record<string, unknown>)[key], name, parts);
      } catch (error) {
        throw portError(name, error);
      }
    };
}

type ItemOf<I> = I extends AsyncIterable<infer Item> ? Item : I extends Iterable<infer Item> ? Item : never;

/**
 * A method that returns an iterable, which is opened when its first item is requested.
 * @param limit limit on the wait for each item
 */
export function yields<F extends Method<AsyncIterable<unknown> | Iterable<unknown>>>(
  accept: Accept<ItemOf<ReturnType<F>>>,
  limit: Limit,
): Rule<F> {
  return (member) => {
    const open = (...args: unknown[]) =>
      iterable(member, () => methodOf(member).apply(member.port, args), accept, limit);
    return presentMethod(member, open as unknown as F);
  };
}

/** A property that is an iterable, for one reader. The wait for an item has no limit. */
export function iterates<Item>(accept: Accept<Item>): Rule<AsyncIterable<Item>> {
  return (member) => {
    const items = iterable(member, () => (member.port as Record<string, unknown>)[member.key], accept, {
      boundedBy: "the end of its call",
    });
    return () => items;
  };
}

/** Maximum time for an iterable to clean up, ms. */
const CLEANUP_TIMEOUT_MS = 5_000;

function iterable<Item>(member: Member, open: () => unknown, accept: Accept<Item>, limit: Limit): AsyncIterable<Item> {
  return {
    [Symbol.asyncIterator]() {
      let source: Partial<Iterator<unknown>> | undefined;
      const next = async (): Promise<IteratorResult<Item, undefined>> => {
        try {
          source ??= iteratorOf(member.name, open());
          const result: unknown = await source.next?.();
          if (typeof result !== "object" || result === null)
            throw new PortFault(`${member.name} returned an iterator without results`);
          const { done, value } = result as IteratorResult<unknown>;
          return done ? { done, value: undefined } : { done: false, value: accept(value, member.name, member.parts) };
        } catch (error) {
          throw portError(member.name, error);
        }
      };
      return {
        next: () => withinLimit(member, limit, next()),
        async return() {
          const cleanup = async (): Promise<unknown> => source?.return?.();
          await withinLimit(member, CLEANUP_TIMEOUT_MS, cleanup()).catch(() => {}); // the reader has stopped early
          return { done: true, value: undefined };
        },
      };
    },
  };
}

function iteratorOf(name: string, items: unknown): Partial<Iterator<unknown>> {
  const { [Symbol.asyncIterator]: async, [Symbol.iterator]: sync } = Object(items) as Partial<
    AsyncIterable<unknown> & Iterable<unknown>
  >;
  const iterator: unknown = async ? async.call(items) : sync?.call(items);
  if (typeof iterator === "object" && iterator !== null) return iterator;
  if (items instanceof Promise) items.catch(() => {});
  throw new PortFault(`${name} is ${items instanceof Promise ? "a promise" : typeof items}: it must be an iterable`);
}

function withinLimit<T>({ name, parts }: Member, limit: Limit, work: Promise<T>): Promise<T> {
  if (typeof limit !== "number") return work;
  const timeoutError = (): Error => new PortBusy(`${name} did not respond within ${limit} ms`);
  return within(work, { system: parts.system, ms: limit, timeoutError });
}

async function callAsync<T>(member: Member, args: readonly unknown[], accept: Accept<T> | undefined): Promise<T> {
  try {
    const value: unknown = await methodOf(member).apply(member.port, [...args]);
    return accept ? accept(value, member.name, member.parts) : (value as T);
  } catch (error) {
    throw portError(member.name, error);
  }
}

/** @throws {PortFault} the port no longer has this method */
function methodOf({ port, key, name }: Member): Method<unknown> {
  const method = (port as Record<string, unknown>)[key];
  if (typeof method !== "function") throw new PortFault(`${name} is ${typeof method}: it must be a function`);
  return method as Method<unknown>;
}

/** Returns the guarded method if the port currently has the method. */
function presentMethod<F>({ port, key }: Member, method: F): () => F | undefined {
  return () => {
    try {
      return (port as Record<string, unknown>)[key] === undefined ? undefined : method;
    } catch {
      return method; // its call reports the fault
    }
  };
}

/**
 * Calls a method without waiting for it. If it returns a promise, a rejection is logged; otherwise nothing is
 * allocated.
 */
function callSync(member: Member, warn: (error: unknown) => void, a: unknown, b: unknown, c: unknown): unknown {
  const result: unknown = methodOf(member).call(member.port, a, b, c);
  if (isThenable(result)) new Promise((resolve) => resolve(result)).catch(warn);
  return result;
}

function warnOnce({ name, parts }: Member): (error: unknown) => void {
  let hasWarned = false;
  return (error) => {
    if (hasWarned) return;
    hasWarned = true;
    parts.log.warn({ port: name, err: portError(name, error) }, "a port failed");
  };
}

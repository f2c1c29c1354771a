/** A way in which a call of a port goes wrong. */
export const FAULTS = ["throws", "plain value", "rejects", "hangs"] as const;
export type Fault = (typeof FAULTS)[number];

/** A method that goes wrong in this way. */
export function faulty(fault: Fault): () => unknown {
  switch (fault) {
    case "throws":
      return () => {
        throw new Error("thrown at once");
      };
    case "plain value":
      return () => 7;
    case "rejects":
      return () => Promise.reject(new Error("rejected"));
    case "hangs":
      return () => new Promise(() => {});
  }
}

/** The method that goes wrong, `speech.voice`, and how; none at first. */
export interface Breakage {
  method: string | undefined;
  fault: Fault;
  /** Calls of the method since it goes wrong. */
  calls: number;
}

/** The ports that methods of ports return. */
const RETURNED = new Map([
  ["telephony.open", "line"],
  ["line.dial", "leg"],
  ["recordings.record", "writer"],
  ["recordings.read", "recording"],
  ["transcription.open", "session"],
  ["agent.begin", "conversation"],
]);

/** The port itself, but for the method that goes wrong at the moment, and the same for the ports that it returns. */
export function fragile<Port extends object>(port: Port, name: string, breakage: Breakage): Port {
  return new Proxy(port, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      const method = `${name}.${String(key)}`;
      if (typeof value !== "function") return value;
      return (...args: unknown[]): unknown => {
        if (breakage.method === method) {
          breakage.calls++;
          return faulty(breakage.fault)();
        }
        const result: unknown = value.apply(target, args);
        const returned = RETURNED.get(method);
        if (returned === undefined) return result;
        const wrap = (one: unknown) => (typeof one === "object" && one ? fragile(one, returned, breakage) : one);
        return result instanceof Promise ? result.then(wrap) : wrap(result);
      };
    },
  });
}

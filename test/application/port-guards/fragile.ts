/** Faults of a port method. */
export const FAULTS = ["throws", "plain value", "rejects", "hangs"] as const;
export type Fault = (typeof FAULTS)[number];

/** A method with this fault. */
export function faultyMethod(fault: Fault): () => unknown {
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

/** The faulty method, such as `speech.voice`, and its fault; undefined at first. */
export interface Breakage {
  method: string | undefined;
  fault: Fault;
  /** Number of calls to the faulty method. */
  calls: number;
}

/** Ports that are returned by methods of other ports. */
const RETURNED_PORTS = new Map([
  ["telephony.open", "line"],
  ["line.dial", "leg"],
  ["recordings.record", "writer"],
  ["recordings.read", "recording"],
  ["transcription.open", "session"],
  ["agent.begin", "conversation"],
]);

/** Wraps a port, and the ports that it returns, so that the currently faulty method fails. */
export function makeFragile<Port extends object>(port: Port, name: string, breakage: Breakage): Port {
  return new Proxy(port, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      const method = `${name}.${String(key)}`;
      if (typeof value !== "function") return value;
      return (...args: unknown[]): unknown => {
        if (breakage.method === method) {
          breakage.calls++;
          return faultyMethod(breakage.fault)();
        }
        const result: unknown = value.apply(target, args);
        const returnedPort = RETURNED_PORTS.get(method);
        if (returnedPort === undefined) return result;
        const wrapResult = (returnedValue: unknown) =>
          typeof returnedValue === "object" && returnedValue
            ? makeFragile(returnedValue, returnedPort, breakage)
            : returnedValue;
        return result instanceof Promise ? result.then(wrapResult) : wrapResult(result);
      };
    },
  });
}

import { CodedError } from "../../base/error.ts";

/** Represents a port's breach of contract: it threw something other than an error, or returned an invalid value. */
export class PortFault extends CodedError {
  override readonly name: string = "PortFault";
  readonly code = "port_fault";
}

/** Thrown if a port did not respond in time, or has too many calls pending; a later call may succeed. */
export class PortBusy extends PortFault {
  override readonly name = "PortBusy";
}

const MAX_MESSAGE_CHARACTERS = 1_000;

/**
 * The error itself; for any other value, and for an error that cannot be read, a {@link PortFault} that names the port.
 */
export function portError(name: string, thrown: unknown): Error {
  try {
    if (thrown instanceof Error && typeof thrown.message === "string") return thrown;
    return new PortFault(`${name} failed: ${String(thrown).slice(0, MAX_MESSAGE_CHARACTERS)}`);
  } catch {
    return new PortFault(`${name} failed with a value that cannot be read`);
  }
}

import type { CallerId } from "../../../../../src/client/index.ts";

/** A caller as entered in a form. */
export interface CallerForm {
  readonly phoneNumber: string;
  readonly displayName: string;
  readonly withheld: boolean;
}

export function callerForm({ phoneNumber = "", displayName = "", withheld = false }: CallerId = {}): CallerForm {
  return { phoneNumber, displayName, withheld };
}

/** The entered caller; null if the fields are empty. */
export function callerOfForm({ phoneNumber, displayName, withheld }: CallerForm): CallerId | null {
  const number = phoneNumber.replace(/[\s().-]/g, "");
  const name = displayName.trim();
  if (number === "" && name === "" && !withheld) return null;
  return {
    ...(number !== "" && { phoneNumber: number }),
    ...(name !== "" && { displayName: name }),
    ...(withheld && { withheld }),
  };
}

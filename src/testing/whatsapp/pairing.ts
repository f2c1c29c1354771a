import type { System } from "../../ports/system.ts";

/** The first code is shown for a minute, each following one for 20 s. */
export const QR_TTL_MS: readonly number[] = [60_000, 20_000, 20_000, 20_000, 20_000, 20_000];
/** The alphabet of pairing codes. */
const ALPHABET = "123456789ABCDEFGHJKLMNPQRSTVWXYZ";
const CODE_LENGTH = 8;

/** The codes by which an unlinked client can be linked. */
export class Pairing {
  readonly #system: System;
  readonly #emit: (event: string, argument: unknown) => void;
  #refs: readonly string[] = [];
  #shownCount = 0;
  #cancel: (() => void) | undefined;
  #code: { readonly code: string; readonly phone: string } | undefined;

  constructor(system: System, emit: (event: string, argument: unknown) => void) {
    this.#system = system;
    this.#emit = emit;
  }

  /** The displayed QR code; undefined before the first and after the last one. */
  get qr(): string | undefined {
    return this.#cancel && this.#refs[this.#shownCount - 1];
  }

  get hasQr(): boolean {
    return this.#cancel !== undefined;
  }

  /** The pairing code, and the number that it is for. */
  get code(): { readonly code: string; readonly phone: string } | undefined {
    return this.#code;
  }

  /** Shows these codes in order; no code follows the last one. */
  show(refs: readonly string[]): void {
    this.#stopQr();
    this.#refs = refs;
    this.#rotate();
  }

  /** Makes a pairing code. Throws an Error for an invalid custom code. */
  makeCode(phone: string, custom: string | undefined): string {
    const code = custom === undefined ? this.#randomCode() : custom.replaceAll("-", "").toUpperCase();
    if (code.length !== CODE_LENGTH) throw new Error(`custom pairing code must be 8 characters, got ${code.length}`);
    for (const character of code)
      if (!ALPHABET.includes(character))
        throw new Error(`custom pairing code contains invalid character "${character}" (allowed: ${ALPHABET})`);
    this.#code = { code, phone };
    this.#emit("auth_pairing_code", { code });
    return code;
  }

  /** Ends the QR codes, as pairing does; a pairing code is kept in the state. */
  stopCodes(): void {
    this.#stopQr();
  }

  clear(): void {
    this.#stopQr();
    this.#code = undefined;
  }

  #rotate(): void {
    this.#cancel = undefined;
    const qr = this.#refs[this.#shownCount];
    const ttlMs = QR_TTL_MS[this.#shownCount];
    if (qr === undefined || ttlMs === undefined) return;
    this.#shownCount++;
    this.#cancel = this.#system.after(ttlMs, () => this.#rotate());
    this.#emit("auth_qr", { qr, ttlMs });
  }

  #stopQr(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#refs = [];
    this.#shownCount = 0;
  }

  #randomCode(): string {
    const bytes = new Uint8Array(CODE_LENGTH);
    this.#system.random(bytes);
    return Array.from(bytes, (byte) => ALPHABET[byte & 31]).join("");
  }
}

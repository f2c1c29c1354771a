/** A package that the client for linked WhatsApp numbers consists of. */
export interface WhatsAppPackage {
  readonly name: string;
  /** The oldest version that the adapter was tried with. */
  readonly minVersion: string;
  readonly purpose: string;
  /** True for a native module, which may be installed and still not load on this platform. */
  readonly native: boolean;
}

/** The packages of docs/whatsapp.md, "Install". */
export const WHATSAPP_PACKAGES: readonly WhatsAppPackage[] = [
  { name: "zapo-js", minVersion: "1.8.0", purpose: "linked devices", native: false },
  { name: "@zapo-js/voip", minVersion: "1.0.0", purpose: "calls", native: false },
  { name: "libmlow-wasm", minVersion: "0.1.1", purpose: "the voice codec", native: false },
  { name: "@roamhq/wrtc", minVersion: "0.10.0", purpose: "the connection to the relays", native: true },
];

export type {
  WhatsAppCall,
  WhatsAppClient,
  WhatsAppClientContext,
  WhatsAppClientFactory,
  WhatsAppClientState,
  WhatsAppNumber,
  WhatsAppTimelock,
  WhatsAppVoip,
} from "../../../src/ports/whatsapp-client.ts";
export { type WhatsAppStoreBackend, type WhatsAppStoreOptions, whatsappStore } from "./store/whatsapp-store.ts";
export { type WhatsAppOptions, whatsapp } from "./whatsapp.ts";

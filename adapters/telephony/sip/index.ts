export type { MediaPlace } from "../../sip-stack/media/create-engine.ts";
export type { AccountDefaults } from "./accounts/sip-account.ts";
export type { SipAccountsOptions } from "./accounts/sip-accounts.ts";
export { faultText, type ParsedTrunks, parseTrunks, type TrunkFault } from "./config/parse-trunks.ts";
export type { Route, RouteTrunk } from "./config/route-config.ts";
export type { Trunk, TrunkCodec, TrunkListener, TrunkTls } from "./config/trunk-config.ts";
export { type WhatsAppBusinessOptions, whatsappBusiness } from "./config/whatsapp-business.ts";
export { type SipOptions, sip } from "./sip.ts";

export type { MediaPlace } from "../../sip-stack/media/create-engine.ts";
export type { AccountDefaults } from "./accounts/account.ts";
export type { SipAccountsOptions } from "./accounts/accounts.ts";
export { faultText, type ParsedTrunks, parseTrunks, type TrunkFault } from "./config/parse-trunks.ts";
export type { Route, RouteTrunk } from "./config/route.ts";
export type { Trunk, TrunkCodec, TrunkListener, TrunkTls } from "./config/trunk.ts";
export { type WhatsAppBusinessOptions, whatsappBusiness } from "./config/whatsapp-business.ts";
export { type SipOptions, sip } from "./sip.ts";

/** What WhatsApp's refusals mean, by what their reason phrase or warning says; the first that fits counts. */
const REFUSALS: readonly { readonly says: RegExp; readonly code: string; readonly fix: string }[] = [
  {
    says: /no approved call permission/i,
    code: "no_call_permission",
    fix: "the user has not allowed calls from this number, or is not on WhatsApp; ask for the permission first",
  },
  {
    says: /sip server .*does not match|does not match .*sip server/i,
    code: "hostname_mismatch",
    fix: "`hostname` must be the SIP server that is configured on the business number",
  },
  {
    says: /asset not found/i,
    code: "number_not_registered",
    fix: "`phoneNumber` is not a business number that is registered for calling",
  },
  {
    says: /proxy auth uri does not match/i,
    code: "uri_mismatch",
    fix: "the digest's uri and the To field differ; this is a fault of ours, please report it",
  },
  {
    says: /digest|credential|password/i,
    code: "wrong_password",
    fix: "`password` must be the number's sip_user_password",
  },
  { says: /duplicate/i, code: "duplicate_call", fix: "a call between this number and this user is going on already" },
  { says: /limit/i, code: "limit_reached", fix: "the daily limit of calls is reached; try again tomorrow" },
  { says: /payment|billing/i, code: "payment_required", fix: "the business account's payment method needs attention" },
  { says: /sdp/i, code: "sdp_refused", fix: "WhatsApp did not take our offer; check `srtp` on the number's settings" },
  {
    says: /not authori[sz]ed|permission/i,
    code: "app_not_authorised",
    fix: "the app that the credentials belong to may not use this number",
  },
];

/** The code of a refusal by WhatsApp (status 400 or 403), and what to do; undefined where its words say nothing known. */
export function whatsAppRefusal(words: string): { readonly code: string; readonly fix: string } | undefined {
  return REFUSALS.find(({ says }) => says.test(words));
}

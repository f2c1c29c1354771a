/** The meanings of WhatsApp's refusals, by reason phrase or warning; the first match counts. */
const REFUSALS: readonly { readonly pattern: RegExp; readonly code: string; readonly fix: string }[] = [
  {
    pattern: /no approved call permission/i,
    code: "no_call_permission",
    fix: "the user has not allowed calls from this number, or is not on WhatsApp; ask for the permission first",
  },
  {
    pattern: /sip server .*does not match|does not match .*sip server/i,
    code: "hostname_mismatch",
    fix: "`hostname` must be the SIP server that is configured on the business number",
  },
  {
    pattern: /asset not found/i,
    code: "number_not_registered",
    fix: "`phoneNumber` must be a business number that is registered for calling",
  },
  {
    pattern: /proxy auth uri does not match/i,
    code: "uri_mismatch",
    fix: "the digest's uri and the To field differ; this is a bug in Ringport, please report it",
  },
  {
    pattern: /digest|credential|password/i,
    code: "wrong_password",
    fix: "`password` must be the number's sip_user_password",
  },
  {
    pattern: /duplicate/i,
    code: "duplicate_call",
    fix: "this number is already in a call with this user",
  },
  { pattern: /limit/i, code: "limit_reached", fix: "the daily limit of calls is reached; call again tomorrow" },
  {
    pattern: /payment|billing/i,
    code: "payment_required",
    fix: "check the business account's payment method",
  },
  {
    pattern: /sdp/i,
    code: "sdp_refused",
    fix: "WhatsApp did not accept our offer; check SRTP in the number's settings",
  },
  {
    pattern: /not authori[sz]ed|permission/i,
    code: "app_not_authorised",
    fix: "allow the app that owns the credentials to use this number",
  },
];

/** The code and the fix of a refusal by WhatsApp (status 400 or 403); undefined if its text is unknown. */
export function whatsAppRefusal(text: string): { readonly code: string; readonly fix: string } | undefined {
  return REFUSALS.find(({ pattern }) => pattern.test(text));
}

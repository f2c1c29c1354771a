const TOKEN = /\brp_(live|demo)_[0-9A-Za-z]{8,}/g;
const USER_OF_URL = /(:\/\/)[^/\s?#]*@/g;

/** The text with `rp_live_[hidden]` in place of each token. */
export function hideTokens(text: string): string {
  return text.replace(TOKEN, "rp_$1_[hidden]");
}

/** The text with `[hidden]@` in place of users and passwords in URLs. */
export function hideUsers(text: string): string {
  return text.replace(USER_OF_URL, "$1[hidden]@");
}

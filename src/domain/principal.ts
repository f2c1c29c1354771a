/** Who is asking. An embedding application builds these itself; the server reads them from a token. */
export interface Principal {
  readonly userId: string;
  /** The token that was shown, where there was one. */
  readonly tokenId?: string;
  /** Set for a demo token: the only instance it may see or call from. */
  readonly demoInstanceId?: string;
}

import { onOff, phonePrefixes, sipServers, textSetting, wholeNumber } from "./parsers.ts";
import { HIDDEN, setting } from "./setting.ts";

/** Trunks, and users' SIP accounts. */
export const SIP = [
  setting(
    "embedded.sip.trunks",
    "RINGPORT_SIP_TRUNKS",
    textSetting(
      "JSON",
      'a list of trunks as JSON, such as [{"name":"acme","server":"sip:sip.acme.example"}], or a file with it',
    ),
    "none",
    "Trunks that make real phones ring.",
    HIDDEN,
  ),
  setting(
    "embedded.sip.accounts",
    "RINGPORT_SIP_ACCOUNTS",
    sipServers,
    "off",
    "Lets users enter their own SIP accounts: of any server, or of these.",
  ),
  setting(
    "embedded.sip.accountsAllowPrivate",
    "RINGPORT_SIP_ACCOUNTS_ALLOW_PRIVATE",
    onOff,
    "off",
    "Lets these accounts reach private addresses, such as a PBX in your own network.",
  ),
  setting(
    "embedded.sip.accountDestinations.allowedPrefixes",
    "RINGPORT_SIP_ACCOUNTS_ALLOWED_PREFIXES",
    phonePrefixes,
    "none",
    "Prefixes that these accounts may call. Default: every number except emergency and premium-rate numbers.",
  ),
  setting(
    "embedded.sip.accountDestinations.allowEmergency",
    "RINGPORT_SIP_ACCOUNTS_ALLOW_EMERGENCY",
    onOff,
    "off",
    "Lets these accounts call emergency numbers.",
  ),
  setting(
    "embedded.sip.accountDestinations.allowPremium",
    "RINGPORT_SIP_ACCOUNTS_ALLOW_PREMIUM",
    onOff,
    "off",
    "Lets these accounts call premium-rate and satellite numbers.",
  ),
  setting(
    "embedded.sip.mediaThreads",
    "RINGPORT_SIP_MEDIA_THREADS",
    wholeNumber(1, 127),
    "one fewer than the processors",
    "Maximum number of threads for the audio of SIP calls.",
  ),
] as const;

import { accountCode } from "./account/account-code.ts";
import { accountList } from "./account/account-list.ts";
import { accountReset } from "./account/account-reset.ts";
import { backup } from "./backup.ts";
import { call } from "./call/call.ts";
import { calls } from "./call/calls.ts";
import { callsHangup } from "./call/calls-hangup.ts";
import { callsRecording } from "./call/calls-recording.ts";
import { callsShow } from "./call/calls-show.ts";
import type { Command } from "./command.ts";
import { completion } from "./completion/completion.ts";
import { consentDelete } from "./consent/consent-delete.ts";
import { consentGet } from "./consent/consent-get.ts";
import { consentList } from "./consent/consent-list.ts";
import { consentSet } from "./consent/consent-set.ts";
import { demo } from "./demo/demo.ts";
import { doctor } from "./doctor/doctor.ts";
import { erase } from "./erase.ts";
import { instanceCreate } from "./instance/instance-create.ts";
import { instanceDelete } from "./instance/instance-delete.ts";
import { instanceLink } from "./instance/instance-link.ts";
import { instanceList } from "./instance/instance-list.ts";
import { instancePair } from "./instance/instance-pair.ts";
import { instanceQr } from "./instance/instance-qr.ts";
import { instanceShow } from "./instance/instance-show.ts";
import { instanceUnlink } from "./instance/instance-unlink.ts";
import { instanceUpdate } from "./instance/instance-update.ts";
import { listen } from "./listen/listen.ts";
import { serve } from "./serve.ts";
import { sipCheck } from "./sip/sip-check.ts";
import { tokenCreate } from "./token/token-create.ts";
import { tokenList } from "./token/token-list.ts";
import { tokenRevoke } from "./token/token-revoke.ts";
import { voices } from "./voices/voices.ts";

/** Every command, in the order of the help: parsing, help and completion are made from this table. */
export const COMMANDS: readonly Command[] = [
  serve,
  demo,
  doctor,
  instanceCreate,
  instanceList,
  instanceShow,
  instanceQr,
  instanceLink,
  instancePair,
  instanceUpdate,
  instanceUnlink,
  instanceDelete,
  call,
  calls,
  callsShow,
  callsHangup,
  callsRecording,
  consentSet,
  consentGet,
  consentList,
  consentDelete,
  listen,
  voices,
  sipCheck,
  tokenCreate,
  tokenList,
  tokenRevoke,
  accountCode,
  accountList,
  accountReset,
  backup,
  erase,
  completion,
];

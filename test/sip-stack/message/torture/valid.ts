import { wire } from "../messages.ts";
import { tortureSdp } from "./sdp.ts";

const NAME_100 = "amazinglylongcallername".repeat(5);

/** The valid messages of RFC 4475 section 3.1.1, by their names, written by hand. */
export const VALID: Readonly<Record<string, Uint8Array>> = {
  wsinv: wire(String.raw`INVITE sip:vivekg@chair-dnrc.example.com;unknownparam SIP/2.0
TO :
 sip:vivekg@chair-dnrc.example.com ;   tag    = 1918181833n
from   : "J Rosenberg \\\""       <sip:jdrosen@example.com>
  ;
  tag = 98asjd8
MaX-fOrWaRdS: 0068
Call-ID: wsinv.ndaksdj@192.0.2.1
Content-Length   : 150
cseq: 0009
  INVITE
Via  : SIP  /   2.0
 /UDP
    192.0.2.2;branch=390skdjuw
s :
NewFangledHeader:   newfangled value
 continued newfangled value
UnknownHeaderWithUnusualValue: ;;,,;;,;
Content-Type: application/sdp
Route:
 <sip:services.example.com;lr;unknownwith=value;unknown-no-value>
v:  SIP  / 2.0  / TCP     spindle.example.com   ;
  branch  =   z9hG4bK9ikj8  ,
 SIP  /    2.0   / UDP  192.168.255.111   ; branch=
 z9hG4bK30239
m:"Quoted string \"\"" <sip:jdrosen@example.com> ; newparam =
      newvalue ;
  secondparam ; q = 0.33

v=0
o=mhandley 29739 7272939 IN IP4 192.0.2.3
s=-
c=IN IP4 192.0.2.4
t=0 0
m=audio 49217 RTP/AVP 0 12
m=video 3227 RTP/AVP 31
a=rtpmap:31 LPC
`),
  intmeth: wire(
    [
      "!interesting-Method0123456789_*+`.%indeed'~ sip:1_unusual.URI~(to-be!sure)&isn't+it$/crazy?,/;;*:&it+has=1,weird!*pas$wo~d_too.(doesn't-it)@example.com SIP/2.0",
      "Via: SIP/2.0/TCP host1.example.com;branch=z9hG4bK-.!%66*_+`'~",
      'To: "BEL:\\\x07 NUL:\\\x00 DEL:\\\x7f" <sip:1_unusual.URI~(to-be!sure)&isn\'t+it$/crazy?,/;;*@example.com>',
      "From: token1~` token2'+_ token3*%!.- <sip:mundane@example.com>;fromParam''~+*_!.-%=\"работающий\";tag=_token~1'+`*%!-.",
      "Call-ID: intmeth.word%ZK-!.*_+'@word`~)(><:\\/\"][?}{",
      "CSeq: 139122385 !interesting-Method0123456789_*+`.%indeed'~",
      "Max-Forwards: 255",
      "extensionHeader-!.%*+_`'~:\ufeff大停電",
      "Content-Length: 0\n\n",
    ].join("\n"),
  ),
  esc01: wire(`INVITE sip:sips%3Auser%40example.com@example.net SIP/2.0
To: sip:%75se%72@example.com
From: <sip:I%20have%20spaces@example.net>;tag=938
Max-Forwards: 87
i: esc01.239409asdfakjkn23onasd0-3234
CSeq: 234234 INVITE
Via: SIP/2.0/UDP host5.example.net;branch=z9hG4bKkdjuw
C: application/sdp
Contact:
  <sip:cal%6Cer@host5.example.net;%6C%72;n%61me=v%61lue%25%34%31>
Content-Length: 150

${tortureSdp("192.0.2.1")}`),
  escnull: wire(`REGISTER sip:example.com SIP/2.0
To: sip:null-%00-null@example.com
From: sip:null-%00-null@example.com;tag=839923423
Max-Forwards: 70
Call-ID: escnull.39203ndfvkjdasfkq3w4otrq0adsfdfnavd
CSeq: 14398234 REGISTER
Via: SIP/2.0/UDP host5.example.com;branch=z9hG4bKkdjuw
Contact: <sip:%00@host5.example.com>
Contact: <sip:%00%00@host5.example.com>
L:0

`),
  esc02: wire(`RE%47IST%45R sip:registrar.example.com SIP/2.0
To: "%Z%45" <sip:resource@example.com>
From: "%Z%45" <sip:resource@example.com>;tag=f232jadfj23
Call-ID: esc02.asdfnqwo34rq23i34jrjasdcnl23nrlknsdf
Via: SIP/2.0/TCP host.example.com;branch=z9hG4bK209%fzsnel234
CSeq: 29344 RE%47IST%45R
Max-Forwards: 70
Contact: <sip:alias1@host1.example.com>
C%6Fntact: <sip:alias2@host2.example.com>
Contact: <sip:alias3@host3.example.com>
l: 0

`),
  lwsdisp: wire(`OPTIONS sip:user@example.com SIP/2.0
To: sip:user@example.com
From: caller<sip:caller@example.com>;tag=323
Max-Forwards: 70
Call-ID: lwsdisp.1234abcd@funky.example.com
CSeq: 60 OPTIONS
Via: SIP/2.0/UDP funky.example.com;branch=z9hG4bKkdjuw
l: 0

`),
  longreq: wire(`INVITE sip:user@example.com SIP/2.0
To: "I have a user name of ${"extreme".repeat(10)} proportion"<sip:user@example.com:6000;unknownparam1=very${"long".repeat(20)}value;longparam${"name".repeat(25)}=shortvalue;very${"long".repeat(25)}ParameterNameWithNoValue>
F: sip:${NAME_100}@example.net;tag=12${"982".repeat(50)}424;unknownheaderparam${"name".repeat(20)}=unknowheaderparam${"value".repeat(15)};unknownValueless${"paramname".repeat(10)}
Call-ID: longreq.one${"really".repeat(20)}longcallid
CSeq: 3882340 INVITE
Unknown-${"Long".repeat(20)}-Name: unknown-${"long".repeat(20)}-value; unknown-${"long".repeat(20)}-parameter-name = unknown-${"long".repeat(20)}-parameter-value
${[
  ...["Via:", "v:", "V:", "Via:", "ViA:", "VIa:", "VIA:", "via:", "viA:", "vIa:", "vIA:"],
  ...["V : ", "v : ", "V  :", "v  :", "Via :", "Via  :", ...Array.from({ length: 16 }, () => "Via:")],
]
  .map((name, index) => `${name} SIP/2.0/TCP sip${33 - index}.example.com`)
  .join("\n")}
Via: SIP/2.0/TCP host.example.com;received=192.0.2.5;branch=very${"long".repeat(50)}branchvalue
Max-Forwards: 70
Contact: <sip:${NAME_100}@host5.example.net>
Content-Type: application/sdp
l: 150

${tortureSdp("192.0.2.1")}`),
  dblreq: wire(`REGISTER sip:example.com SIP/2.0
To: sip:j.user@example.com
From: sip:j.user@example.com;tag=43251j3j324
Max-Forwards: 8
I: dblreq.0ha0isndaksdj99sdfafnl3lk233412
Contact: sip:j.user@host.example.com
CSeq: 8 REGISTER
Via: SIP/2.0/UDP 192.0.2.125;branch=z9hG4bKkdjuw23492
Content-Length: 0


INVITE sip:joe@example.com SIP/2.0
t: sip:joe@example.com
From: sip:caller@example.net;tag=141334
Max-Forwards: 8
Call-ID: dblreq.0ha0isnda977644900765@192.0.2.15
CSeq: 8 INVITE
Via: SIP/2.0/UDP 192.0.2.15;branch=z9hG4bKkdjuw380234
Content-Type: application/sdp
Content-Length: 150

${tortureSdp("192.0.2.15").replace("m=video", "m =video")}
`),
  semiuri: wire(`OPTIONS sip:user;par=u%40example.net@example.com SIP/2.0
To: sip:j_user@example.com
From: sip:caller@example.org;tag=33242
Max-Forwards: 3
Call-ID: semiuri.0ha0isndaksdj
CSeq: 8 OPTIONS
Accept: application/sdp, application/pkcs7-mime,
        multipart/mixed, multipart/signed,
        message/sip, message/sipfrag
Via: SIP/2.0/UDP 192.0.2.1;branch=z9hG4bKkdjuw
l: 0

`),
  transports: wire(`OPTIONS sip:user@example.com SIP/2.0
To: sip:user@example.com
From: <sip:caller@example.com>;tag=323
Max-Forwards: 70
Call-ID:  transports.kijh4akdnaqjkwendsasfdj
Accept: application/sdp
CSeq: 60 OPTIONS
Via: SIP/2.0/UDP t1.example.com;branch=z9hG4bKkdjuw
Via: SIP/2.0/SCTP t2.example.com;branch=z9hG4bKklasjdhf
Via: SIP/2.0/TLS t3.example.com;branch=z9hG4bK2980unddj
Via: SIP/2.0/UNKNOWN t4.example.com;branch=z9hG4bKasd0f3en
Via: SIP/2.0/TCP t5.example.com;branch=z9hG4bK0a9idfnee
l: 0

`),
  mpart01: multipart(),
  unreason: wire(`SIP/2.0 200 = 2**3 * 5**2 но сто девяносто девять - простое
Via: SIP/2.0/UDP 192.0.2.198;branch=z9hG4bK1324923
Call-ID: unreason.1234ksdfak3j2erwedfsASdf
CSeq: 35 INVITE
From: sip:user@example.com;tag=11141343
To: sip:user@example.edu;tag=2229
Content-Length: 154
Content-Type: application/sdp
Contact: <sip:user@host198.example.com>

${tortureSdp("192.0.2.198")}`),
  noreason: wire(`SIP/2.0 100 ${""}
Via: SIP/2.0/UDP 192.0.2.105;branch=z9hG4bK2398ndaoe
Call-ID: noreason.asndj203insdf99223ndf
CSeq: 35 INVITE
From: <sip:user@example.com>;tag=39ansfi3
To: <sip:user@example.edu>;tag=902jndnke3
Content-Length: 0
Contact: <sip:user@host105.example.com>

`),
};

/** A text part, and a binary one with NUL in it. */
function multipart(): Uint8Array {
  const signature =
    "3082015206092a864886f70d010702a08201433082013f0201013109300706052b0e03021a300b06092a864886f70d010701318201203082011c" +
    "020101307c3070310b3009060355040613025553311330110603550408130a43616c69666f726e69613111300f0603550407130853616e204a6f" +
    "7365310e300c060355040a1305736970697431293027060355040b13205369706974205465737420436572746966696361746520417574686f72" +
    "69747902080195007102330113300706052b0e03021a300d06092a864886f70d01010105000481808ef466f948f0522dd2e5978e9d95aae9f2fe" +
    "15a06659716292e8da2aa8d8350a68ceffae3cbd2bff1675ddd5648e593dd64728f26220f7e941749e330d9a15edabdb93d10c42102e7b7289d2" +
    "9cc0c9ae2efbc7c0cff9172f3b027e4fc027e1546de4b6aa3abb3e66cccb5dd6c64b8383149cb8e6ff182d944fe57b65bc99d005";
  const head = wire(`MESSAGE sip:kumiko@example.org SIP/2.0
Via: SIP/2.0/UDP 127.0.0.1:5070;branch=z9hG4bK-d87543-4dade06d0bdb11ee-1--d87543-;rport
Max-Forwards: 70
Route: <sip:127.0.0.1:5080>
Identity: r5mwreLuyDRYBi/0TiPwEsY3rEVsk/G2WxhgTV1PF7hHuLIK0YWVKZhKv9Mj8UeXqkMVbnVq37CD+813gvYjcBUaZngQmXc9WNZSDNGCzA+fWl9MEUHWIZo1CeJebdY/XlgKeTa0Olvq0rt70Q5jiSfbqMJmQFteeivUhkMWYUA=
Contact: <sip:fluffy@127.0.0.1:5070>
To: <sip:kumiko@example.org>
From: <sip:fluffy@example.com>;tag=2fb0dcc9
Call-ID: 3d9485ad0c49859b@Zmx1ZmZ5LW1hYy0xNi5sb2NhbA..
CSeq: 1 MESSAGE
Content-Transfer-Encoding: binary
Content-Type: multipart/mixed;boundary=7a9cbec02ceef655
Date: Sat, 15 Oct 2005 04:44:56 GMT
User-Agent: SIPimp.org/0.2.5 (curses)
Content-Length: 553

--7a9cbec02ceef655
Content-Type: text/plain
Content-Transfer-Encoding: binary

Hello
--7a9cbec02ceef655
Content-Type: application/octet-stream
Content-Transfer-Encoding: binary

`);
  const binary = Uint8Array.from(signature.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  return Uint8Array.from([...head, ...binary, ...wire("\n--7a9cbec02ceef655--\n")]);
}

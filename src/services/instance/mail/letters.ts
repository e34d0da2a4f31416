import type { CodePurpose } from '../../../database/models/mail-code.ts';
import { escapedHtml } from '../../../text/escape.ts';

/** The content of a mail. The only text from strangers is names, cleaned by `spoken`. */
export interface Letter {
  subject: string;
  /** The message, in one or two sentences. */
  opening: string;
  /** A code of six digits. */
  code?: string;
  /** Facts with their labels. */
  facts?: [string, string][];
  button?: { label: string; url: string };
  /** Further sentences. */
  closing: string[];
}

/** The sender. */
export interface Sender {
  service: string;
  /** The only site that links lead to (security P9). */
  baseUrl: string;
}

const codeWords: Record<CodePurpose, { subject: string; opening: string; unasked: string }> = {
  verify: {
    subject: 'Confirm your e-mail address',
    opening: 'Enter this code to confirm that this address is yours:',
    unasked: 'If you did not sign up, do nothing: your address cannot be used without this code.',
  },
  signin: {
    subject: 'Your sign-in code',
    opening: 'Enter this code to sign in:',
    unasked: 'If you did not try to sign in, do nothing: this code is needed to sign in.',
  },
  reset: {
    subject: 'Choose a new password',
    opening: 'Enter this code to choose a new password:',
    unasked: 'If you did not request a new password, do nothing: your password stays as it is.',
  },
  email: {
    subject: 'Confirm your new e-mail address',
    opening: 'Enter this code to make this the e-mail address of your account:',
    unasked: 'If you did not request this, do nothing: without this code, nothing changes.',
  },
};

/** A mail with a code and its instructions. */
export function codeLetter(
  { service, baseUrl }: Sender,
  purpose: CodePurpose,
  code: string,
): Letter {
  const { subject, opening, unasked } = codeWords[purpose];
  return {
    subject: `${subject} - ${service}`,
    opening,
    code,
    closing: [
      `Valid once, for ten minutes, at ${baseUrl} only. ${service} never asks you for it anywhere else.`,
      unasked,
    ],
  };
}

/** Says that the address of a sign-up already has an account. */
export function accountLetter({ service, baseUrl }: Sender): Letter {
  return {
    subject: `You have an account - ${service}`,
    opening: `You, or someone else, tried to sign up for ${service} with this address. The address already has an account.`,
    button: { label: 'Sign in', url: `${baseUrl}/login` },
    closing: [
      'If you forgot your password, choose a new one on the sign-in page.',
      'If it was not you, do nothing: nothing has changed.',
    ],
  };
}

/** Tells the holder of an address that another account has asked for it. */
export function askedForLetter({ service, baseUrl }: Sender): Letter {
  return {
    subject: `Your address is in use - ${service}`,
    opening: `You, or someone else, tried to use this address for another account at ${service}. It is the address of your account, so nothing has changed.`,
    button: { label: 'Sign in', url: `${baseUrl}/login` },
    closing: [
      'If it was you, sign in with this address.',
      'If it was not you, do nothing. You get this mail at most once a day.',
    ],
  };
}

/** Says that the person deleted their account. */
export function deletedLetter({ service }: Sender): Letter {
  return {
    subject: `Your account was deleted - ${service}`,
    opening: `Your account at ${service} was deleted, with everything that belonged to it.`,
    closing: [
      'If it was you, do nothing.',
      'If it was not you, tell your administrator now. This mail is the last one to this address.',
    ],
  };
}

const longestName = 50;

/** A name as mails show it: short, and without characters that would make a link. */
export function spoken(name: string): string {
  const signs = [...name.replace(/[.:/\\@\u3002\uff0e\uff61]+(?=\S)/g, ' ')];
  return signs.length > longestName
    ? `${signs.slice(0, longestName).join('').trimEnd()}…`
    : signs.join('');
}

/** A role with its article: a member, an admin, an owner. */
export function roleInWords(role: string): string {
  return role === 'member' ? 'a member' : `an ${role}`;
}

/** The data of an invitation. The inviter is null if the operator invites. */
interface Invited {
  organization: string;
  inviter: string | null;
  role: string;
  url: string;
}

/** An invitation to an organization. */
export function invitationLetter(
  { service }: Sender,
  { organization, inviter, role, url }: Invited,
): Letter {
  const invites = inviter === null ? 'You are invited' : `${spoken(inviter)} invites you`;
  return {
    subject: `You are invited - ${service}`,
    opening: `${invites} to join ${spoken(organization)} on ${service} as ${roleInWords(role)}.`,
    button: { label: 'Accept the invitation', url },
    closing: [
      'The link is valid once, for seven days, and only for this address.',
      'If you did not expect this invitation, do nothing.',
    ],
  };
}

/** The data of a setup link. `parts` are in words. */
interface SetupAsked {
  organization: string;
  parts: string[];
  until: string;
  url: string;
}

/** Asks a person without an account to set up parts of an organization. */
export function setupLinkLetter(
  { service }: Sender,
  { organization, parts, until, url }: SetupAsked,
): Letter {
  return {
    subject: `Please set up sign-in - ${service}`,
    opening: `You are asked to set up sign-in to ${service} for ${spoken(organization)}. You do not need an account.`,
    facts: [
      ['What to set up', parts.join(', ')],
      ['Until', until],
    ],
    button: { label: 'Start the setup', url },
    closing: [
      'The link works in one browser: the one in which you start.',
      'If you did not expect this mail, do nothing.',
    ],
  };
}

/** Renders the letter as text and as HTML. Escapes all values in the HTML. */
export function renderLetter(from: Sender, letter: Letter) {
  return { subject: letter.subject, text: textOf(from, letter), html: htmlOf(from, letter) };
}

function textOf(
  { service, baseUrl }: Sender,
  { opening, code, facts, button, closing }: Letter,
): string {
  const middle = [
    ...(code === undefined ? [] : [`    ${code}`]),
    ...(facts === undefined ? [] : [facts.map((fact) => fact.join(': ')).join('\n')]),
    ...(button === undefined ? [] : [`${button.label}: ${button.url}`]),
  ];
  return `${[opening, ...middle, ...closing, `--\n${service}, ${baseUrl}`].join('\n\n')}\n`;
}

// The styles are inline, because many mail programs drop style sheets. No image or font is loaded.
const face = "font-family:system-ui,-apple-system,'Segoe UI',Roboto,sans-serif";
const page = `margin:0;padding:24px 12px;background:#f4f5f7;color:#1d2129;${face};font-size:16px;line-height:1.5`;
const card = 'max-width:480px;margin:0 auto;padding:28px;background:#ffffff;border-radius:8px';
const digits =
  'margin:24px 0;font-family:ui-monospace,Consolas,monospace;font-size:32px;font-weight:600;letter-spacing:8px;text-align:center';
const link =
  'display:inline-block;padding:11px 22px;background:#1f4fd8;color:#ffffff;border-radius:6px;text-decoration:none;font-weight:600';
const table = 'margin:16px 0 0;border-collapse:collapse;font-size:15px';
const labelCell =
  'padding:2px 16px 2px 0;color:#555d6b;font-weight:400;text-align:left;vertical-align:top';
const valueCell = 'padding:2px 0;word-break:break-word';
const small = 'margin:16px 0 0;color:#555d6b;font-size:14px';

function htmlOf(
  { service, baseUrl }: Sender,
  { subject, opening, code, facts, button, closing }: Letter,
) {
  const middle = [
    ...(code === undefined ? [] : [`<p style="${digits}">${escapedHtml(code)}</p>`]),
    ...(facts === undefined ? [] : [tableOf(facts)]),
    ...(button === undefined ? [] : [buttonOf(button)]),
  ];
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapedHtml(subject)}</title></head>
<body style="${page}">
<div style="${card}">
<p style="margin:0 0 16px;font-weight:600">${escapedHtml(service)}</p>
<p style="margin:0">${escapedHtml(opening)}</p>
${middle.join('\n')}
${closing.map((line) => `<p style="${small}">${escapedHtml(line)}</p>`).join('\n')}
<p style="${small};border-top:1px solid #e3e5e9;padding-top:16px">${escapedHtml(service)} · ${escapedHtml(baseUrl)}</p>
</div>
</body>
</html>
`;
}

function tableOf(facts: [string, string][]): string {
  const rows = facts.map(
    ([label, value]) =>
      `<tr><th style="${labelCell}">${escapedHtml(label)}</th><td style="${valueCell}">${escapedHtml(value)}</td></tr>`,
  );
  return `<table style="${table}">\n${rows.join('\n')}\n</table>`;
}

/** A button, with its URL below, for readers who want to see where it leads. */
function buttonOf({ label, url }: { label: string; url: string }): string {
  return `<p style="margin:24px 0 8px;text-align:center"><a href="${escapedHtml(url)}" style="${link}">${escapedHtml(label)}</a></p>
<p style="margin:0;font-size:13px;word-break:break-all;color:#555d6b">${escapedHtml(url)}</p>`;
}

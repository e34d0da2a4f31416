import type { CodePurpose } from '../../../database/models/mail-code.ts';

/**
 * The content of a mail, before rendering as text and HTML. Nothing in it comes from a stranger,
 * except the names of an inviting organization and its inviter, cleaned by `spoken`.
 */
export interface Letter {
  subject: string;
  /** The subject matter in one sentence. */
  opening: string;
  /** Six digits to copy. */
  code?: string;
  button?: { label: string; url: string };
  /** Further information. */
  closing: string[];
}

/** The sender. */
export interface Sender {
  service: string;
  /** The only place that a link leads to (security P9). */
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
    unasked: 'If you did not request a new password, do nothing: yours stays as it is.',
  },
};

/** A code, with instructions. */
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
    opening: `You, or another person, tried to sign up for ${service} with this address. It already has an account.`,
    button: { label: 'Sign in', url: `${baseUrl}/login` },
    closing: [
      'If you forgot your password, choose a new one there.',
      'If it was not you, do nothing: nothing has changed.',
    ],
  };
}

const longestName = 50;

/**
 * A name that a person chose, for a mail to a stranger. It is short, and has nothing that a mail
 * program would turn into a link.
 */
function spoken(name: string): string {
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

/** An invitation into an organization. */
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

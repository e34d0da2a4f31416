import type { CodePurpose } from '../../database/models/mail-code.ts';

/**
 * What a mail says, before it is written out as text and HTML. Nothing in it comes from a stranger, but for the name of an
 * organization that invites, and that as `spoken` leaves it.
 */
export interface Letter {
  subject: string;
  /** What it is about, in one sentence. */
  opening: string;
  /** Six digits to copy. */
  code?: string;
  button?: { label: string; url: string };
  /** What else there is to know. */
  closing: string[];
}

/** Who writes. */
export interface Sender {
  service: string;
  /** The only place that a link leads to (security P9). */
  baseUrl: string;
}

const codeWords: Record<CodePurpose, { subject: string; opening: string; unasked: string }> = {
  verify: {
    subject: 'Confirm your e-mail address',
    opening: 'Enter this code to confirm that this address is yours:',
    unasked: 'If you did not sign up, do nothing: nobody can use your address without this code.',
  },
  signin: {
    subject: 'Your sign-in code',
    opening: 'Enter this code to sign in:',
    unasked: 'If you did not try to sign in, do nothing: nobody gets in without this code.',
  },
  reset: {
    subject: 'Choose a new password',
    opening: 'Enter this code to choose a new password:',
    unasked: 'If you did not ask for a new password, do nothing: yours stays as it is.',
  },
};

/** A code, and what to do with it. */
export function codeLetter({ service, baseUrl }: Sender, purpose: CodePurpose, code: string): Letter {
  const { subject, opening, unasked } = codeWords[purpose];
  return {
    subject: `${subject} - ${service}`,
    opening,
    code,
    closing: [
      `It works once, for ten minutes, at ${baseUrl} alone. Nobody from ${service} will ever ask you for it.`,
      unasked,
    ],
  };
}

/** To somebody who has an account, and with whose address somebody signed up. */
export function accountLetter({ service, baseUrl }: Sender): Letter {
  return {
    subject: `You have an account - ${service}`,
    opening: `Somebody, probably you, tried to sign up for ${service} with this address. It has an account already.`,
    button: { label: 'Sign in', url: `${baseUrl}/login` },
    closing: [
      'If you have forgotten your password, choose a new one there.',
      'If it was not you, do nothing: nothing has changed.',
    ],
  };
}

const longestName = 50;

/** A name that an admin chose, for a mail to anybody: short, and without what a mail program would make a link of. */
function spoken(name: string): string {
  const signs = [...name.replace(/[.:/\\@\u3002\uff0e\uff61]+(?=\S)/g, ' ')];
  return signs.length > longestName ? `${signs.slice(0, longestName).join('').trimEnd()}…` : signs.join('');
}

/** An invitation into an organization. */
export function invitationLetter(
  { service }: Sender,
  { organization, role, url }: { organization: string; role: string; url: string },
): Letter {
  const as = role === 'member' ? 'a member' : `an ${role}`;
  return {
    subject: `You are invited - ${service}`,
    opening: `You are invited to join ${spoken(organization)} on ${service} as ${as}.`,
    button: { label: 'Accept the invitation', url },
    closing: [
      'The link works once, for seven days, and only for this address.',
      'If you do not know who invites you, do nothing.',
    ],
  };
}

import { minuteText } from '../../../text/dates.ts';
import type { Notice, NoticeMailing } from '../../foundation/mail/notice.ts';
import { methodNames } from '../../people/sessions/method-names.ts';
import { programOf } from '../../people/sessions/program.ts';
import { type Letter, type Sender, spoken } from './letters.ts';

// The mails that tell people what happened to their account. None contains a link that signs in, a
// code or a secret.

/** What a notice says. */
interface Words {
  /** The fact, as the subject. */
  subject: string;
  opening: string;
  /** What to do besides telling the administrator, if the person did not do it. */
  remedies: string[];
  /** Only an administrator can undo it. */
  byAdministrator?: boolean;
}

/** The mail about what happened to an account at this time. */
export function noticeLetter(
  { service, baseUrl }: Sender,
  { notice, from }: Pick<NoticeMailing, 'notice' | 'from'>,
  at: Date,
): Letter {
  const words = wordsOf(notice, `your account at ${service}`);
  const { subject, opening } = words;
  return {
    subject: `${subject} - ${service}`,
    opening,
    facts: [['When', minuteText(at)], ...originOf(notice, from)],
    button: { label: 'Your account', url: `${baseUrl}/` },
    closing:
      from === null
        ? ['If you did not expect this, ask your administrator.']
        : [
            'If it was you, do nothing.',
            `If it was not you, someone else can use your account. ${adviceOf(words)}`,
          ],
  };
}

/** Advises to do this, and to tell the administrator. */
function adviceOf({ remedies, byAdministrator }: Words): string {
  if (byAdministrator)
    return 'Tell your administrator now: only an administrator can reset your second factor.';
  const text = [...remedies, 'and tell your administrator'].join(', ').replace(/^and /, '');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/** Who did it, or from where and how. */
function originOf(notice: Notice, from: NoticeMailing['from']): [string, string][] {
  if (from === null) {
    if (notice.what === 'setup-finished') return [['By', notice.by ?? 'the holder of the link']];
    const by = notice.what === 'second-factor-reset' ? notice.by : null;
    return [['By', by === null ? 'an administrator' : `an administrator of ${spoken(by)}`]];
  }
  const facts: [string, string | null][] = [
    ['From', from.address],
    // A program chooses its own name, so it is cleaned like a stranger's.
    ['With', from.userAgent && spoken(programOf(from.userAgent))],
    ['Method', notice.what === 'new-browser' ? methodNames[notice.method] : null],
  ];
  return facts.flatMap(([label, value]) => (value === null ? [] : [[label, value]]));
}

const changePassword = 'change your password if you have one';

function wordsOf(notice: Notice, yours: string): Words {
  switch (notice.what) {
    case 'password-changed':
      return {
        subject: 'Your password was changed',
        opening: `The password of ${yours} was changed.`,
        remedies: ['choose a new password with "Forgot password?" on the sign-in page'],
      };
    case 'authenticator-added':
      return {
        subject: 'An authenticator app was added',
        opening: `An authenticator app was added to ${yours}.${withCodes(notice)}`,
        remedies: ['turn the app off', changePassword],
        // Without the new factor, the person can no longer change anything.
        byAdministrator: notice.withCodes,
      };
    case 'authenticator-removed':
      return {
        subject: 'The authenticator app was removed',
        opening: `The authenticator app was removed from ${yours}.${notice.codesEnded ? ' Its recovery codes ended too.' : ''}`,
        remedies: [changePassword],
      };
    case 'passkey-added':
      return {
        subject: 'A passkey was added',
        opening: `The passkey "${spoken(notice.name)}" was added to ${yours}.${withCodes(notice)}`,
        remedies: ['remove passkeys that you do not know', changePassword],
        byAdministrator: notice.withCodes,
      };
    case 'passkey-removed':
      return {
        subject: 'A passkey was removed',
        opening: `The passkey "${spoken(notice.name)}" was removed from ${yours}.`,
        remedies: ['remove passkeys that you do not know', changePassword],
      };
    case 'second-factor-reset':
      return {
        subject: 'Your second factor was reset',
        opening: `The second factor of ${yours} was reset. Set up a new one on your account page.`,
        remedies: [],
      };
    case 'recovery-code-used':
      return {
        subject: 'A recovery code was used',
        opening: `A recovery code of ${yours} was used. ${codesLeft(notice.remaining)}`,
        remedies: [changePassword, 'create new recovery codes'],
      };
    case 'recovery-codes-made':
      return {
        subject: 'New recovery codes were created',
        opening: `New recovery codes were created for ${yours}. The earlier ones are invalid.`,
        remedies: [changePassword, 'create new recovery codes'],
      };
    case 'address-changed':
      return {
        subject: 'Your e-mail address was changed',
        opening: `The e-mail address of ${yours} was changed, and its other sessions have ended. ${addressNow[notice.address]}`,
        remedies: [],
      };
    case 'social-linked':
      return {
        subject: `A ${notice.provider} account was connected`,
        opening: `A ${notice.provider} account was connected to ${yours}. It can sign you in.`,
        remedies: ['disconnect that account', changePassword],
      };
    case 'admin-token-made':
      return {
        subject: `A token with scope admin was ${notice.regenerated ? 'regenerated' : 'created'}`,
        opening: `The token "${spoken(notice.name)}" of ${yours} ${notice.regenerated ? 'got a new value' : 'was created'}. It has scope admin, so it can give others access.`,
        remedies: ['revoke the token', changePassword],
      };
    case 'setup-finished': {
      const organization = spoken(notice.organization);
      return {
        subject: `The setup of ${organization} is finished`,
        opening: `The holder of your setup link for ${organization} is done, and the link has ended. Test what was set up, and approve new connections.`,
        remedies: [],
      };
    }
    case 'new-browser':
      return {
        subject: 'Sign-in from a new browser',
        opening: `A new browser or program signed in to ${yours}.`,
        remedies: ['end that session on your account page', changePassword],
      };
  }
}

const addressNow = {
  old: 'This address no longer belongs to it.',
  new: 'This is the new address.',
};

function withCodes(notice: { withCodes: boolean }): string {
  return notice.withCodes ? ' Recovery codes were created too.' : '';
}

function codesLeft(remaining: number): string {
  if (remaining === 0) return 'No code is left. Create new ones on your account page.';
  return remaining === 1 ? 'One code is left.' : `${remaining} codes are left.`;
}

import { expect, test } from 'vitest';
import { tellExplained } from '../../src/cli/commands/explain.ts';
import { printTable } from '../../src/cli/output.ts';

type Explained = Parameters<typeof tellExplained>[1];

/** The lines that a terminal of 80 columns shows. */
function shown(view: Explained): string[] {
  let text = '';
  const write = (more: string) => {
    text += more;
  };
  const screen = { write, columns: 80, colour: false };
  tellExplained(
    {
      print: write,
      table: (views, fields) => void printTable(views, fields, screen),
    },
    view,
  );
  return text.trimEnd().split('\n');
}

const way = (method: Explained['ways'][number]['method'], rule: string, on = true) => ({
  method,
  on,
  could: false,
  rule,
});
const user = 'ada.byron@engineering.example.com';
const until = '2026-11-22T12:10:00.000Z';
const origin = { kind: 'mapping' as const, group: 'Engineering, all sites' };

test('explain fits a screen of 80 columns and 24 lines, even with a long answer', () => {
  const lines = shown({
    ways: [
      way('password', 'Locked until 2026-11-22T12:10Z: too many attempts.'),
      way('magicCode', 'Locked until 2026-11-22T12:10Z: too many attempts.'),
      way('sso', 'The account is linked to another identity.'),
      way('ldap', 'The account is linked to another identity.'),
      way('google', 'Google is not set up (social.google).', false),
      way('github', 'Not for engineering.example.com, which is not verified.', false),
    ],
    member: { role: 'member', origin: { kind: 'sso' } },
    keptGroups: null,
    projects: Array.from({ length: 12 }, (_, at) => ({
      slug: `project-${at}`,
      role: 'member' as const,
      origin,
    })),
    blocks: [
      {
        code: 'too_many_tries',
        message: [
          'Too many attempts failed.',
          {
            say: 'Wait, or the operator unlocks it',
            operation: 'user.unlock',
            with: { user },
          },
        ],
        until,
      },
      {
        code: 'identity_conflict',
        message: [
          'The account is linked to another identity.',
          { say: 'If the provider is new', operation: 'sso.relink' },
          { to: 'unlink only this person', operation: 'identity.unlink', with: { user } },
        ],
      },
    ],
    next: { adds: [], changes: [], removes: [], orgRole: null },
    attempts: [{ of: 'password', network: null, used: 10, most: 10, until }],
  });
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
  expect(lines.length).toBeLessThanOrEqual(24);
  expect(lines.join(' ')).toMatch(/and 9\s+more/);
});

test('explain names the group that gives a role, and the groups kept for a deactivated person', () => {
  const view = {
    ways: [way('password', 'The account has no password.')],
    keptGroups: null,
    blocks: [],
    next: null,
    attempts: null,
    projects: [],
  };
  const scim = { kind: 'scim' as const, group: 'Developers', source: 'scim' as const };
  const member = { role: 'admin' as const, origin: scim };
  expect(shown({ ...view, member })).toContain(
    'Member        admin (from the SCIM group Developers)',
  );
  const away = shown({ ...view, member: null, keptGroups: ['Developers'] }).join(' ');
  expect(away.replace(/\s+/g, ' ')).toContain(
    'Member no: SCIM shows the person as deactivated Projects - Next sign-in does not give a role. Activate the person in the SCIM client; SCIM keeps Developers',
  );
});

test('the headings of explain say whether the person can sign in', () => {
  const message = 'The account has no password.';
  const password = way('password', message);
  const view = {
    ways: [password],
    member: null,
    keptGroups: null,
    blocks: [{ code: 'no_password', message }],
    next: null,
    attempts: null,
    projects: [],
  };
  const headings = (given: Explained) => shown(given).filter((line) => /^[A-Z ,-]+$/.test(line));
  expect(headings(view)).toEqual([
    'METHOD    ON   WORKS  WHY',
    'PERSON        FOUND',
    'UNTIL  WHAT KEEPS THE PERSON OUT',
  ]);
  const isIn = { ...view, ways: [password, { ...way('sso', 'On.'), could: true }] };
  expect(headings(isIn).at(-1)).toBe('UNTIL  THE PERSON CAN SIGN IN, BUT');
});

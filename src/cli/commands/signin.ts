import type { Command } from 'commander';
import type { z } from 'zod';
import { refuseField } from '../../errors.ts';
import type {
  reachView,
  SignInSettingName,
  signInSettingsView,
} from '../../services/tenancy/signin-settings/operations.ts';
import { signInWords } from '../../services/tenancy/signin-settings/words.ts';
import { shellWord } from '../../text/shell-word.ts';
import { counted } from '../../text/words.ts';
import { noun, verb } from '../command.ts';
import type { Fields } from '../output.ts';
import type { Call } from '../run.ts';
import { optionsOf, fieldsOf as settingFields } from '../settings.ts';

const operations = () => import('../../services/tenancy/signin-settings/operations.ts');

type Settings = z.output<typeof signInSettingsView>;

type Reach = z.output<typeof reachView>;

const onOff = (value: boolean) => (value ? 'on' : 'off');

function fieldsOf({ obstacles }: Reach): Fields<Settings> {
  const method = (name: keyof Reach['obstacles']) => (view: Settings) => {
    const why = obstacles[name]?.replace(/\.$/, '');
    return view[name] && why ? `on (not available: ${why})` : onOff(view[name]);
  };
  return settingFields<SignInSettingName, Settings>(signInWords, {
    password: method('password'),
    passkey: method('passkey'),
    magicCode: method('magicCode'),
    google: method('google'),
    github: method('github'),
    allowSelfSignup: (view) => onOff(view.allowSelfSignup),
    restrictOauthToVerifiedDomains: (view) => onOff(view.restrictOauthToVerifiedDomains),
  });
}

const org = { '--org <org>': 'id or slug' };

export function addSignInCommands(program: Command): void {
  const signin = noun(program, 'signin', {
    summary: 'Sign-in methods of an organization',
    example: 'idctl signin show --org acme',
  });
  verb(signin, 'show', {
    summary: 'Show which sign-in methods are on',
    required: org,
    example: 'idctl signin show --org acme',
    run: async (call) => {
      const { showReach, showSignInSettings } = await operations();
      const view = await call.operate(showSignInSettings);
      const reach = await call.operate(showReach);
      call.show(view, fieldsOf(reach));
      noteReach(call, reach);
    },
  });
  verb(signin, 'set', {
    summary: 'Switch sign-in methods on or off; settings not given stay as they are',
    detail:
      'With --restrict-oauth-to-verified-domains on, Google and GitHub sign in only people whose address is on a verified domain.',
    required: org,
    rehearsable: true,
    options: optionsOf(signInWords),
    example: 'idctl signin set --org acme --password off --google on',
    run: async (call) => {
      const { changeSignInSettings, showReach } = await operations();
      const given = switches(call.input);
      const reach = await call.operate(showReach, { org: given['org'] });
      await call.perform(changeSignInSettings, fieldsOf(reach), given);
      noteReach(call, reach);
      if (call.flags.dryRun) await noteShutOut(call, given);
    },
  });
}

/** Prints a note if the settings apply to no account: they do not show it themselves (O1). */
function noteReach(call: Call, { governs }: Reach): void {
  if (governs) return;
  const { org } = call.input;
  call.note(
    `These settings do not apply to any account yet: ${org} has no verified domain.\nAdd a domain: ${call.here(`idctl domain add DOMAIN --org ${shellWord(String(org))}`)}`,
  );
}

/** Prints a note with the people who would have no way to sign in. */
async function noteShutOut(call: Call, given: Record<string, unknown>): Promise<void> {
  const { findPeopleShutOut } = await import(
    '../../services/tenancy/signin-settings/people-shut-out.ts'
  );
  const { count, people } = await call.operate(findPeopleShutOut, given);
  if (count === 0) return;
  const more = count > people.length ? ` and ${count - people.length} more` : '';
  const who = counted(count, 'person has', 'people have');
  call.note(`After that, ${who} no way to sign in: ${people.join(', ')}${more}.`);
}

function switches({ org, ...given }: Record<string, unknown>): Record<string, unknown> {
  const read = Object.entries(given).map(
    ([name, value]) => [name, readSwitch(name, value)] as const,
  );
  return { org, ...Object.fromEntries(read) };
}

function readSwitch(name: string, value: unknown): boolean {
  if (value === 'on' || value === 'off') return value === 'on';
  throw refuseField(name, 'must be on or off');
}

import type { Command } from 'commander';
import type { z } from 'zod';
import { refuseField } from '../../errors.ts';
import type { signInSettingsView } from '../../services/tenancy/signin-settings/operations.ts';
import { shellWord } from '../../shell-word.ts';
import { noun, verb } from '../command.ts';
import type { Fields } from '../output.ts';
import type { Call } from '../run.ts';

const operations = () => import('../../services/tenancy/signin-settings/operations.ts');

type Settings = z.output<typeof signInSettingsView>;

const onOff = (value: boolean) => (value ? 'on' : 'off');

const fields: Fields<Settings> = [
  ['Password', (view) => onOff(view.password)],
  ['Passkey', (view) => onOff(view.passkey)],
  ['Magic code', (view) => onOff(view.magicCode)],
  ['Google', (view) => onOff(view.google)],
  ['GitHub', (view) => onOff(view.github)],
  ['Allow self-signup', (view) => onOff(view.allowSelfSignup)],
  ['Restrict OAuth to verified domains', (view) => onOff(view.restrictOauthToVerifiedDomains)],
];

const org = { '--org <org>': 'id or slug' };

/** Declares `idctl signin`. */
export function addSignInCommands(program: Command): void {
  const signin = noun(
    program,
    'signin',
    'How people of an organization may sign in',
    'idctl signin show --org acme',
  );
  verb(signin, 'show', {
    summary: 'Show which ways to sign in are on',
    required: org,
    example: 'idctl signin show --org acme',
    run: async (call) => {
      const { showSignInSettings } = await operations();
      call.show(await call.operate(showSignInSettings), fields);
      await noteReach(call);
    },
  });
  verb(signin, 'set', {
    summary: 'Switch ways to sign in; the others stay as they are',
    required: org,
    rehearsable: true,
    options: {
      '--password <on|off>': 'e-mail and password',
      '--passkey <on|off>': 'a passkey; not set: as --password',
      '--magic-code <on|off>': 'a code by mail',
      '--google <on|off>': 'Google, if the instance has it',
      '--github <on|off>': 'GitHub, if the instance has it',
      '--allow-self-signup <on|off>': 'sign-up without invitation',
      '--restrict-oauth-to-verified-domains <how>': 'on: no Google, GitHub for others',
    },
    example: 'idctl signin set --org acme --password off --google on',
    run: async (call) => {
      const { changeSignInSettings } = await operations();
      await call.perform(changeSignInSettings, fields, switches(call.input));
      await noteReach(call);
    },
  });
}

/** Says if the settings govern no account: the settings alone do not show it (security O1). */
async function noteReach(call: Call): Promise<void> {
  const { showReach } = await operations();
  const { org } = call.input;
  if ((await call.operate(showReach, { org })).governs) return;
  call.note(
    `These settings govern no account yet: ${org} has no verified domain.\nVerify one: ${call.here(`idctl domain add DOMAIN --org ${shellWord(String(org))}`)}`,
  );
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

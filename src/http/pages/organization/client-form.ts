import type { z } from 'zod';
import type { clientView } from '../../../services/tenancy/clients/client.ts';
import {
  type ClientSettings,
  changedSettings,
  clientSettings,
} from '../../../services/tenancy/clients/fields.ts';
import { clientWords } from '../../../services/tenancy/clients/words.ts';
import { type Html, html } from '../html.ts';
import type { Visit } from '../page.ts';
import { choice, postForm } from '../parts.ts';
import { settingField } from './sign-in/setting.ts';
import { projectRoleOptions } from './words.ts';

type Client = z.output<typeof clientView>;
type Setting = keyof ClientSettings;

/** The settings in the form of an application, which has all of them. */
export const clientFields = Object.keys(clientSettings);

/** The choices in the form of a new application that are not the first of their field. */
const usual: Partial<Client> = { public: false };

/** The settings that most applications do not need. */
const unusual: readonly Setting[] = [
  'postLogoutRedirectUris',
  'backchannelLogoutUri',
  'forwardAuthOrigins',
  'public',
  'pkce',
  'idTokenAlg',
];

/** The form with the settings of an application; `client` is null for a new one. */
export function clientForm(
  visit: Visit,
  action: string,
  { client, button }: { client: Client | null; button: string },
): Html {
  const faults = visit.refusal?.faults ?? [];
  const isWrong = unusual.some((name) => faults.some(({ path }) => path.split('.')[0] === name));
  // After a refusal, an empty field is what the person typed.
  const is = (visit.refusal === undefined && client) || usual;
  const one = (name: Setting) => fieldOf(visit, name, is);
  const role = {
    name: 'role',
    label: clientWords.role.label,
    note: clientWords.role.about,
    options: { '': 'Any role', ...projectRoleOptions },
    value: is.role,
  };
  return postForm(
    visit,
    action,
    html`${one('name')}
${one('redirectUris')}
${one('homeUrl')}
${one('project')}
${choice(visit, role)}
<details class="more"${isWrong && html` open`}><summary>More settings</summary>
${unusual.map(one)}
</details>
<button type="submit">${button}</button>`,
  );
}

function fieldOf(visit: Visit, name: Setting, is: Partial<Client>): Html {
  const schema = changedSettings[name];
  const optional = name === 'name' ? undefined : true;
  return settingField(
    visit,
    name,
    { words: clientWords[name], schema, value: is[name] },
    { optional },
  );
}

import { z } from 'zod';
import {
  changeSignInSettings,
  showSignInSettings,
} from '../../../../services/tenancy/signin-settings/operations.ts';
import { findPeopleShutOut } from '../../../../services/tenancy/signin-settings/people-shut-out.ts';
import { counted } from '../../../../text/words.ts';
import { html } from '../../html.ts';
import { otherLinks } from '../../navigation.ts';
import { accessTo, form, type Page, type ShownPage, type Visit } from '../../page.ts';
import { postForm } from '../../parts.ts';
import { andMore, rows } from '../../rows.ts';
import { goTo } from '../sheet.ts';
import { path, pathOf } from './path.ts';

/** The form of the sign-in settings. It asks first if people would have no way to sign in. */
export function settingsForm(refused: (visit: Visit) => Promise<ShownPage>): Page {
  return form({
    path: `${path}/settings`,
    access: accessTo(changeSignInSettings),
    // The number of people that the person was told about.
    input: changeSignInSettings.input.extend({ shutsOut: z.int().default(0) }),
    act: async (visit, { org, shutsOut, ...given }) => {
      // A setting that stays as it is may follow the instance, and goes on following it.
      const before: Record<string, boolean> = await showSignInSettings(visit.ctx, { org });
      const changed = Object.entries(given).filter(([name, value]) => before[name] !== value);
      const change = { org, ...Object.fromEntries(changed) };
      const found = await findPeopleShutOut(visit.ctx, change);
      if (found.count > shutsOut) return askFirst(visit, found);
      await changeSignInSettings(visit.ctx, change);
      return goTo(visit, pathOf(visit), 'settings');
    },
    refused,
  });
}

function askFirst(visit: Visit, { count, people }: { count: number; people: string[] }): ShownPage {
  const { org: _, ...given } = visit.given;
  const who = counted(count, 'person', 'people');
  const back = pathOf(visit);
  const along = { ...given, shutsOut: String(count) };
  return {
    title: 'Save sign-in settings',
    main: html`<h1>Save these settings?</h1>
<p>${who} then ${count === 1 ? 'has' : 'have'} no way to sign in:</p>
${rows(people.map((name) => ({ name })))}
${andMore(count - people.length)}
${postForm(visit, `${back}/settings`, html`<button class="danger" type="submit">Save and shut out ${who}</button>`, along)}
${otherLinks(html`<a href="${back}">Cancel</a>`)}`,
  };
}

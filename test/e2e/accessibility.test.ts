import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pages } from '../../src/http/surface.ts';
import { createClient } from '../../src/services/tenancy/clients/operations.ts';
import { addDomain } from '../../src/services/tenancy/domains/operations.ts';
import { createInvitation } from '../../src/services/tenancy/invitations/operations.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { createProject } from '../../src/services/tenancy/projects/operations.ts';
import { axeFaults } from '../support/axe.ts';
import { type Browser, startBrowser } from '../support/browser.ts';
import { password, person } from '../support/builders.ts';
import { counterpartMissing } from '../support/counterpart.ts';
import { dialect } from '../support/database.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { peopled } from '../support/peopled.ts';

// axe-core looks at every page, in light and dark, wide and narrow.

const shown = pages.filter(({ method }) => method === 'GET').map(({ path }) => path);
const looks = [
  { name: 'wide and light', narrow: false, dark: false },
  { name: 'narrow and dark', narrow: true, dark: true },
];

describe.skipIf(dialect !== 'sqlite' || counterpartMissing('chromium'))('every page', () => {
  let idctl: Idctl;
  let browser: Browser;
  beforeAll(async () => {
    idctl = await openIdctl({ limits: { enabled: 'off' } });
    browser = await startBrowser([idctl.baseUrl]);
  });
  afterAll(async () => {
    await browser?.close();
    await idctl?.close();
  });

  test.each(looks)('WCAG 2.2 AA: axe-core finds nothing: $name', async (look) => {
    const operator = idctl.operator();
    const { org } = await peopled(idctl, ['Grace Hopper']);
    const at = { org: org.slug };
    const domain = `${org.slug}.example`;
    await addDomain(operator, { ...at, domain });
    const project = await createProject(operator, { ...at, name: 'Website' });
    const grace = await person(idctl);
    await addMember(operator, { ...at, email: grace.email ?? '', role: 'member' });
    const invited = { ...at, email: `new@${domain}`, role: 'member' as const };
    const { id } = await createInvitation(operator, invited);
    const wiki = { ...at, name: 'Wiki', redirectUris: ['https://wiki.example/callback'] };
    const { clientId: client } = await createClient(operator, createClient.input.parse(wiki));
    const values: Record<string, string> = {
      ...{ org: org.slug, user: grace.id, domain, project: project.slug, id, client },
    };
    const { page } = await browser.open(look);
    const faults: Record<string, string[]> = {};
    const lookAt = async (path: string) => {
      const found = await axeFaults(page);
      if (found.length > 0) faults[path] = found;
    };
    await page.goto(`${idctl.baseUrl}/login`);
    await lookAt('/login');
    await page.getByLabel('E-mail address or company domain').fill(org.owner.email ?? '');
    await page.keyboard.press('Enter');
    await page.getByLabel('Password').fill(password);
    await lookAt('/login, password');
    await page.keyboard.press('Enter');
    await page.getByText('Sign out').first().waitFor();
    const seen = new Set<string>();
    for (const path of shown.filter(
      (one) => !one.startsWith('/login') && one !== '/account/export',
    )) {
      const filled = path.replace(/:(\w+)/g, (_, key: string) => values[key] ?? key);
      const answer = await page.goto(idctl.baseUrl + filled);
      if (answer?.headers()['content-type']?.includes('text/html') !== true) continue;
      seen.add(path);
      await lookAt(path);
    }
    expect(seen.size).toBeGreaterThan(20);
    // It would find a fault.
    await page.evaluate('document.querySelector("main").append(new Image())');
    expect(await axeFaults(page)).toEqual([expect.stringContaining('image-alt')]);
    expect(faults).toEqual({});
    await page.context().close();
  });
});

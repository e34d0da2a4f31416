import axe from 'axe-core';
import type { Page } from 'playwright-core';

const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** What axe-core objects to on the open page: the rule and the first elements. */
export async function axeFaults(page: Page): Promise<string[]> {
  const run = `axe.run(document, ${JSON.stringify({ runOnly: tags })}).then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ': ' + nodes.slice(0, 3).map(({ html }) => html).join(' ')))`;
  // It runs outside the page's content security policy.
  await page.evaluate(axe.source);
  return page.evaluate<string[]>(run);
}

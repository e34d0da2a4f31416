import { readFile } from 'node:fs/promises';
import { type RequestHandler, Router } from 'express';
import type { Config } from '../../config/schema.ts';
import { Refusal } from '../../errors.ts';
import { type Door, fillPath } from '../route.ts';
import { answerPage } from './answer.ts';
import { logoPath, script, scriptPath, style, stylePath } from './layout.ts';
import type { Page } from './page.ts';
import { renewalPath, renewForForm } from './renew.ts';

/** Serves the pages, their forms and their assets. */
export function servePages(pages: Page[], door: Door): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.use(serveAssets(door.app.config));
  for (const page of pages) {
    if (page.method === 'GET') router.get(page.path, answerPage(page, door));
    else router.post(page.path, answerPage(page, door));
  }
  router.post(renewalPath, renewForForm(pages, door));
  // After a refused form, the address bar shows the path of the form, which has no page to reload.
  router.get('/login/*path', goTo('/login')).get('/account/*path', goTo('/'));
  for (const { path } of pages.filter(({ path }) => !isShown(pages, path))) {
    const above = pageAbove(pages, path);
    if (above !== undefined) router.get(path, goAbove(above));
  }
  return router;
}

function isShown(pages: Page[], path: string): boolean {
  return pages.some((page) => page.method === 'GET' && page.path === path);
}

/** The nearest page above a path of an organization, or of a setup link. */
function pageAbove(pages: Page[], path: string): string | undefined {
  const above = path.slice(0, path.lastIndexOf('/'));
  if (!/^\/(orgs|setup)\//.test(`${above}/`)) return undefined;
  return isShown(pages, above) ? above : pageAbove(pages, above);
}

/** Redirects from a form that was refused, and is reloaded, to the page above it. */
function goAbove(path: string): RequestHandler {
  return ({ params }, response) => {
    const given = Object.fromEntries(
      Object.entries(params).map(([key, value]) => [key, String(value)]),
    );
    response.status(303).location(fillPath(path, given)).end();
  };
}

function goTo(path: string): RequestHandler {
  return (_request, response) => void response.status(303).location(path).end();
}

/** Serves the stylesheet, the script, and the logo of the instance. */
function serveAssets({ instance }: Pick<Config, 'instance'>): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.get(stylePath, (_request, response) => {
    response.set('Cache-Control', 'public, max-age=31536000, immutable').type('css').end(style);
  });
  router.get(scriptPath, (_request, response) => {
    response.set('Cache-Control', 'public, max-age=31536000, immutable').type('js').end(script);
  });
  const { logo } = instance;
  if (logo !== undefined) {
    router.get(logoPath, async (_request, response) => {
      // An SVG can contain scripts, which the policy blocks, and inline styles, which it allows.
      response.set(
        'Content-Security-Policy',
        "default-src 'none'; style-src 'unsafe-inline'; sandbox",
      );
      response.set('Cache-Control', 'public, max-age=3600');
      const type = /\.svgz?$/i.test(logo) ? 'image/svg+xml' : 'image/png';
      response.type(type).end(await read(logo));
    });
  }
  return router;
}

async function read(logo: string): Promise<Buffer> {
  try {
    return await readFile(logo);
  } catch (cause) {
    throw new Refusal('not_found', 'The logo of this instance cannot be read.', { cause });
  }
}

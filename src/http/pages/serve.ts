import { type RequestHandler, Router } from 'express';
import type { Door } from '../route.ts';
import { answerPage } from './answer.ts';
import { serveAssets } from './assets.ts';
import type { Page } from './page.ts';
import { renewalPath, renewForForm } from './renew.ts';

/** The pages, their forms, and what they show. */
export function servePages(pages: Page[], door: Door): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.use(serveAssets(door.app.config));
  for (const page of pages) {
    if (page.method === 'GET') router.get(page.path, answerPage(page, door));
    else router.post(page.path, answerPage(page, door));
  }
  router.post(renewalPath, renewForForm(door));
  // Where the answer to a form stands in the address, to be asked for anew.
  router.get('/login/*path', goTo('/login')).get('/account/*path', goTo('/'));
  return router;
}

function goTo(path: string): RequestHandler {
  return (_request, response) => void response.status(303).location(path).end();
}

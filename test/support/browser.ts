import { chromium, type Page } from 'playwright-core';

/** A real Chromium. */
export interface Browser {
  /** Opens a window with its own cookies. */
  open(options?: { script?: boolean; dark?: boolean; narrow?: boolean }): Promise<Window>;
  close(): Promise<void>;
}

/**
 * A page, with two lists that must stay empty: `complaints` has the errors of its console, and
 * `foreign` has its requests to other origins.
 */
export interface Window {
  page: Page;
  complaints: string[];
  foreign: string[];
}

const manners =
  '--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync --disable-features=HttpsUpgrades';

/**
 * Starts Chromium. Requests to origins outside `own` are listed as foreign. `at` is the address
 * that serves the host of the first origin.
 */
export async function startBrowser(own: [string, ...string[]], at?: string): Promise<Browser> {
  const reach =
    at === undefined
      ? []
      : [`--host-resolver-rules=MAP ${new URL(own[0]).host} ${new URL(at).host}`];
  const args = [...manners.split(' '), ...reach];
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args });
  return {
    open: async ({ script = true, dark = false, narrow = false } = {}) => {
      const context = await browser.newContext({
        javaScriptEnabled: script,
        colorScheme: dark ? 'dark' : 'light',
        viewport: narrow ? { width: 390, height: 844 } : { width: 1280, height: 900 },
      });
      const page = await context.newPage();
      page.setDefaultTimeout(60_000);
      const [complaints, foreign]: [string[], string[]] = [[], []];
      page.on('console', (message) => {
        // The console also reports answers such as 401, which are no fault of the page.
        if (message.type() === 'error' && !message.text().includes('responded with a status of'))
          complaints.push(message.text());
      });
      page.on('pageerror', (error) => complaints.push(error.message));
      page.on('request', (request) => {
        const { protocol, origin } = new URL(request.url());
        if (protocol !== 'data:' && !own.includes(origin)) foreign.push(request.url());
      });
      return { page, complaints, foreign };
    },
    close: () => browser.close(),
  };
}

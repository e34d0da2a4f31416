import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../config/schema.ts';
import { type Html, html } from './html.ts';
import type { ShownPage } from './page.ts';

/** The stylesheet of all pages. */
export const style = readFileSync(join(import.meta.dirname, 'style.css'), 'utf8');
/** The path of the stylesheet. It changes with the content, so browsers may cache it. */
export const stylePath = `/login/style-${digestOf(style)}.css`;
/** The script of the pages that use passkeys. */
export const script = readFileSync(join(import.meta.dirname, 'passkeys.js'), 'utf8');
/** The path of the script. It changes with the content too. */
export const scriptPath = `/login/passkeys-${digestOf(script)}.js`;

function digestOf(content: string): string {
  return createHash('sha256').update(content).digest('hex').slice(0, 12);
}

/** The path of the instance's logo. */
export const logoPath = '/login/logo';

/** The name and logo on every page of an instance. */
interface Look {
  name: string;
  logo: boolean;
}

/** Reads the name and logo from the configuration. */
export function lookOf({ instance }: Pick<Config, 'instance'>): Look {
  return { name: instance.name, logo: instance.logo !== undefined };
}

// If a tagged template contains the script end tag as text, the bundler imports a package.
const tag = 'script';

/** The whole document of a page. */
export function presentPage(
  { name, logo }: Look,
  { title, main, wide, handOff, application, script }: ShownPage,
  navigation: Html | null = null,
): Html {
  const brand = logo ? html`<img src="${logoPath}" alt="${name}">` : html`<span>${name}</span>`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
${handOff !== undefined && html`<meta http-equiv="refresh" content="0; url=${handOff}">`}
<title>${title} · ${name}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${stylePath}">
${script && html`<script type="module" src="${scriptPath}"></${tag}>`}
</head>
<body>
<div class="${wide ? 'sheet wide' : 'sheet'}">
<header class="brand">${brand}</header>
${navigation}
<main>
${application !== undefined && html`<p class="application">Sign in to continue to <strong>${application}</strong>.</p>`}
${main}
</main>
</div>
</body>
</html>
`;
}

/**
 * The headers that restrict a page to its own style, images and forms. A page with passkeys may
 * also run the script and ask this instance for options. Chromium applies `form-action` to the
 * redirect after a form too, so the policy lists the allowed return origins. With `no-referrer`,
 * Chromium would send forms with `Origin: null`.
 */
export function pagePolicy(
  { http }: Pick<Config, 'http'>,
  { origins = [], script = false }: { origins?: string[]; script?: boolean } = {},
): Record<string, string> {
  const policy = [
    "default-src 'none'",
    ...(script ? ["script-src 'self'", "connect-src 'self'"] : []),
    "style-src 'self'",
    "img-src 'self' data:",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    // This directive is last, because it contains origins that other people registered.
    `form-action ${["'self'", ...http.returnToOrigins, ...origins].join(' ')}`,
  ];
  return {
    'Content-Security-Policy': policy.join('; '),
    'Referrer-Policy': 'same-origin',
    'Cache-Control': 'no-store',
  };
}

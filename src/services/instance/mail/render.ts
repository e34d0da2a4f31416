import { escapedHtml } from '../../../escape.ts';
import type { MailMessage } from '../../../outbound/outbound.ts';
import type { Letter, Sender } from './letters.ts';

/** Renders the letter as text and as HTML, with everything in it escaped. */
export function renderLetter(
  from: Sender,
  letter: Letter,
): Pick<MailMessage, 'subject' | 'text' | 'html'> {
  return { subject: letter.subject, text: textOf(from, letter), html: htmlOf(from, letter) };
}

function textOf({ service, baseUrl }: Sender, { opening, code, button, closing }: Letter): string {
  const middle = [
    ...(code === undefined ? [] : [`    ${code}`]),
    ...(button === undefined ? [] : [`${button.label}: ${button.url}`]),
  ];
  return `${[opening, ...middle, ...closing, `--\n${service}, ${baseUrl}`].join('\n\n')}\n`;
}

// Inline styles, because many mail programs drop a style sheet. No image or font is loaded.
const face = "font-family:system-ui,-apple-system,'Segoe UI',Roboto,sans-serif";
const page = `margin:0;padding:24px 12px;background:#f4f5f7;color:#1d2129;${face};font-size:16px;line-height:1.5`;
const card = 'max-width:480px;margin:0 auto;padding:28px;background:#ffffff;border-radius:8px';
const digits =
  'margin:24px 0;font-family:ui-monospace,Consolas,monospace;font-size:32px;font-weight:600;letter-spacing:8px;text-align:center';
const link =
  'display:inline-block;padding:11px 22px;background:#1f4fd8;color:#ffffff;border-radius:6px;text-decoration:none;font-weight:600';
const small = 'margin:16px 0 0;color:#555d6b;font-size:14px';

function htmlOf(
  { service, baseUrl }: Sender,
  { subject, opening, code, button, closing }: Letter,
): string {
  const middle = [
    ...(code === undefined ? [] : [`<p style="${digits}">${escapedHtml(code)}</p>`]),
    ...(button === undefined ? [] : [buttonOf(button)]),
  ];
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapedHtml(subject)}</title></head>
<body style="${page}">
<div style="${card}">
<p style="margin:0 0 16px;font-weight:600">${escapedHtml(service)}</p>
<p style="margin:0">${escapedHtml(opening)}</p>
${middle.join('\n')}
${closing.map((line) => `<p style="${small}">${escapedHtml(line)}</p>`).join('\n')}
<p style="${small};border-top:1px solid #e3e5e9;padding-top:16px">${escapedHtml(service)} · ${escapedHtml(baseUrl)}</p>
</div>
</body>
</html>
`;
}

/** A button with the address written out beneath, for readers who want to see where it leads. */
function buttonOf({ label, url }: { label: string; url: string }): string {
  return `<p style="margin:24px 0 8px;text-align:center"><a href="${escapedHtml(url)}" style="${link}">${escapedHtml(label)}</a></p>
<p style="margin:0;font-size:13px;word-break:break-all;color:#555d6b">${escapedHtml(url)}</p>`;
}

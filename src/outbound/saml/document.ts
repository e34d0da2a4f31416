import { DOMParser, type Element, type Node } from '@xmldom/xmldom';
import { checkMarkup, MarkupFault } from './markup.ts';

// Parses XML, and reads elements by namespace and name. Nothing here looks below the children of an
// element, except `everyElement`, so that nothing is found in an unexpected place.

// The values of `nodeType` (DOM §4.4).
const elementNode = 1;
const textNode = 3;

/** The root of a text that passes `checkMarkup`. Throws a `MarkupFault` for any other text. */
export function parseXml(text: string, maxBytes: number): Element {
  checkMarkup(text, maxBytes);
  const fail = (_level: string, message: string) => {
    throw new MarkupFault('malformed', message);
  };
  let root: Element | null;
  try {
    root = new DOMParser({ errorHandler: fail }).parseFromString(text, 'text/xml').documentElement;
  } catch (error) {
    throw new MarkupFault('malformed', error instanceof Error ? error.message : '');
  }
  if (root === null) throw new MarkupFault('malformed');
  return root;
}

/** Whether the element has this name in this namespace. */
export function isNamed(element: Element, namespace: string, name: string): boolean {
  return element.namespaceURI === namespace && element.localName === name;
}

/** The child elements. */
export function childrenOf(parent: Element): Element[] {
  return Array.from(parent.childNodes).filter((node) => isElement(node));
}

/** The child elements with this name in this namespace. */
export function childrenNamed(parent: Element, namespace: string, name: string): Element[] {
  return childrenOf(parent).filter((child) => isNamed(child, namespace, name));
}

/** The element and everything below it, in document order. */
export function everyElement(root: Element): Element[] {
  const found = [root];
  for (const element of childrenOf(root)) found.push(...everyElement(element));
  return found;
}

/** The text of an element, or null if it contains anything but text. */
export function textOf(element: Element): string | null {
  const nodes = Array.from(element.childNodes);
  if (nodes.some((node) => node.nodeType !== textNode)) return null;
  return nodes.map((node) => node.nodeValue ?? '').join('');
}

/** The value of an attribute without a namespace, or null. */
export function attributeOf(element: Element, name: string): string | null {
  return element.getAttributeNode(name)?.value ?? null;
}

function isElement(node: Node): node is Element {
  return node.nodeType === elementNode;
}

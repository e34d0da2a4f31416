// The part of @xmldom/xmldom that idctl uses (`paths` in tsconfig.json). The package's own types
// would add the types of a browser to the whole program.

export interface Node {
  readonly nodeType: number;
  readonly nodeValue: string | null;
  readonly childNodes: ArrayLike<Node>;
  readonly parentNode: Node | null;
}

export interface Element extends Node {
  readonly namespaceURI: string | null;
  readonly localName: string;
  readonly attributes: ArrayLike<Attribute>;
  cloneNode(deep: true): Element;
  getAttributeNode(name: string): Attribute | null;
}

interface Attribute {
  readonly localName: string;
  readonly value: string;
}

export class DOMParser {
  constructor(options: { errorHandler: (level: string, message: string) => void });
  parseFromString(text: string, type: 'text/xml'): { documentElement: Element | null };
}

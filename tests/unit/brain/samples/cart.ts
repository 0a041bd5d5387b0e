/**
 * The shopping cart.
 */
import axios, { AxiosError as Failure } from "axios";
import * as money from "./money";
import type { User } from "../users";
import "./polyfills";
export { tax } from "./tax";
export * from './rates';

export const MAX_ITEMS = 20;
const cache = new Map<string, Item>();

/** One thing to buy. */
export interface Item extends Named, Priced<number> {
  id: string;
  discount?(code: string): number;
}

export type Handler = (item: Item) => void;

export enum State {
  Open = "open",
  Closed = "closed",
}

export abstract class Store<T> {
  abstract load(id: string): Promise<T>;
}

@Injectable({ scope: Scope.Request })
export class Cart extends Store<Item> implements Serializable, ui.Widget {
  private items: Item[] = [];
  static readonly LIMITS = {
    items: MAX_ITEMS,
  };

  constructor(private readonly user: User) {
    super();
  }

  // Adds an item.
  @Log()
  async add(item: Item, count = 1): Promise<void> {
    const price = money.round(item.price * count);
    this.items.push(item);
    await axios.post<Failure>(`/cart/${this.user.id}`, { price });
    this.notify((i) => i.id);
  }

  notify = (handler: Handler): void => {
    this.items.forEach(handler);
  };

  load(id: string): Promise<Item> {
    return cache.get(id)!;
  }
}

export function total(cart: Cart): number;
export function total(cart: Cart, code: string): number;
export function total(cart: Cart, code?: string): number {
  return cart.items.reduce((sum, item) => sum + money.of(item), 0);
}

export const open = async (user: User): Promise<Cart> => {
  const make = function () {
    return new Cart(user);
  };
  return make();
};

declare module "legacy" {
  function old(name: string): void;
}

export namespace Util {
  export function isOpen(state: State) {
    return state === State.Open;
  }
}

export default total;

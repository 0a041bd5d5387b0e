using System;
using System.Linq;
using static System.Math;
using Json = Newtonsoft.Json.JsonConvert;

namespace Acme.Web
{
    /// <summary>Finds users.</summary>
    public interface IFinder<T> : IDisposable where T : class
    {
        T Find(int id);
    }

    [ApiController, Route("users")]
    public sealed class UsersController : ControllerBase, IFinder<User>
    {
        private const int MAX_PAGE = 50;
        private readonly IStore _store;

        public UsersController(IStore store) => _store = store;

        /// <summary>How many there are.</summary>
        public int Count
        {
            get { return _store.Count(); }
        }

        [HttpGet("{id}")]
        public async Task<User> Find(int id)
        {
            var user = await _store.LoadAsync<User>(id);
            if (user is null) throw new NotFoundException(nameof(id));
            Func<int, int> twice = x => Max(x, 2);
            return Json.Convert(user) as User;
        }

        void IDisposable.Dispose() { }

        public event EventHandler Changed;
    }

    public record Page(int Number, int Size) : Base(Number);

    public struct Point { public int X; }

    public enum Role { Admin, Guest }

    public delegate void Notify(User user);

    public static class Extensions
    {
        public static string Short(this string text) => text.Substring(0, 3);
    }
}
